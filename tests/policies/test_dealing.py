"""How many attachments a network gives, over which rails, and under which names."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.dealing import Selections, amount, dealt
from policies.defaults import NOTHING
from policies.network import RDMANetwork
from policies.offers import Lane, Offer
from policies.parse import parse
from policies.refusal import Reason, Refusal
from policies.select import Order
from policies.shapes import Isolation
from policies.subject import Container
from policies.tenancy import Grant
from policies.wish import MAX_COUNT
from tests.harness.budgets import small
from tests.harness.cluster import network, rail
from tests.harness.subjects import container, selected, subject

Object = dict[str, Any]


def lane(number: int, name: str = "") -> Lane:
    """A rail as team-a may use it."""
    return Lane(f"r{number}", "team-a", name or f"nad{number}", f"nvidia.com/r{number}")


def order(mode: str, asked: int | None, rails: int = 2, **spec: Any) -> Order:  # noqa: ANN401
    """What a pod asked of a network of some rails."""
    entries = [rail(f"r{n}", f"nvidia.com/r{n}", master=f"ens{n}") for n in range(rails)]
    offer = Offer(
        network="train",
        spec=parse(RDMANetwork, network("train", mode, *entries, **spec)).spec,
        grant=Grant("train", None, ()),
        partition="",
        number=None,
        lanes=tuple(lane(n) for n in range(rails)),
        isolation=Isolation.NONE,
        defaults=NOTHING,
    )
    return Order(offer, asked)


ONE = (container(gpus=1),)
NONE = (container("cpu-only"),)
SEVERAL = (container("a", gpus=2), container("b", gpus=1))


@pytest.mark.parametrize(
    ("one", "containers", "number"),
    [
        pytest.param(order("SRIOVEthernet", None), ONE, 2, id="all rails by default"),
        pytest.param(order("SRIOVEthernet", None, count="All"), ONE, 2, id="all rails by word"),
        pytest.param(order("SRIOVEthernet", None, count=1), ONE, 1, id="the network's number"),
        pytest.param(order("SRIOVEthernet", 5, count=1), ONE, 5, id="the pod's number"),
        pytest.param(order("Macvlan", 2), ONE, 2, id="one a rail"),
        pytest.param(order("HostNetwork", 9), ONE, 9, id="tokens beyond the rails"),
        pytest.param(order("SRIOVEthernet", None, perAccelerator=4), SEVERAL, 12, id="by GPU"),
        pytest.param(
            order("SRIOVEthernet", 1, perAccelerator=4), NONE, 1, id="a number without GPU"
        ),
        pytest.param(order("DeviceOnly", MAX_COUNT), ONE, MAX_COUNT, id="the largest number"),
    ],
)
def test_the_pods_count_goes_before_the_networks(
    one: Order, containers: tuple[Container, ...], number: int
) -> None:
    """COUNT as written, else what the network says NAME means."""
    assert amount(one, containers) == number


@pytest.mark.parametrize(
    ("one", "containers", "reason", "problem"),
    [
        pytest.param(
            order("Macvlan", 3),
            ONE,
            Reason.COUNT_OUT_OF_RANGE,
            "mode Macvlan gives one attachment a rail and the network has 2",
            id="more than one a rail",
        ),
        pytest.param(
            order("SRIOVEthernet", None, perAccelerator=100),
            SEVERAL,
            Reason.COUNT_OUT_OF_RANGE,
            "asks for train 300 times, want at most 128",
            id="too many by GPU",
        ),
        pytest.param(
            order("SRIOVEthernet", None, perAccelerator=2),
            NONE,
            Reason.ACCELERATOR_MISSING,
            "gives 2 for each accelerator, and container cpu-only asks for none",
            id="by GPU without any",
        ),
    ],
)
def test_a_count_that_cannot_be_had_is_refused(
    one: Order, containers: tuple[Container, ...], reason: Reason, problem: str
) -> None:
    """The message says what the author can write instead."""
    found = amount(one, containers)
    assert isinstance(found, Refusal)
    assert found.reason is reason
    assert problem in found.message


@small
@given(rails=st.integers(1, 16), number=st.integers(0, MAX_COUNT))
def test_attachments_are_dealt_round_and_round(rails: int, number: int) -> None:
    """In the order of the rails, and no rail gets two more than another."""
    lanes = tuple(lane(n) for n in range(rails))
    found = dealt(lanes, number)
    assert [one.rail for one in found] == [f"r{n % rails}" for n in range(number)]
    counts = Counter(one.rail for one in found)
    assert sum(counts.values()) == number
    if number >= rails:
        assert max(counts.values()) - min(counts.values()) <= 1


INTERFACES = st.sampled_from(["", "rdma0", "rdma1", "rdma7", "net1", "eth0", "ib0"])
OWN = st.lists(
    st.builds(selected, st.sampled_from(["nad0", "nad1", "other"]), INTERFACES), max_size=6
)


@small
@given(own=OWN, rails=st.integers(1, 3), number=st.integers(0, MAX_COUNT))
def test_new_interfaces_have_names_of_their_own(own: list[Any], rails: int, number: int) -> None:
    """Unique, at most 15 characters, and never one that Multus or the kernel hands out."""
    selections = Selections(subject(selections=tuple(own)))
    found = [
        selections.attach("train", one) for one in dealt(tuple(map(lane, range(rails))), number)
    ]
    fresh = [one.interface for one in found if not one.selected]
    assert len({*fresh, *(one.interface for one in own)}) == len(fresh) + len(
        {one.interface for one in own}
    )
    for name in fresh:
        assert len(name) <= 15
        assert not re.fullmatch(r"net\d+|eth0|lo", name)


@small
@given(own=OWN, number=st.integers(0, 6))
def test_the_authors_own_elements_are_used_first_and_once(own: list[Any], number: int) -> None:
    """An element of the same NAD is that attachment; what no attachment took is left over."""
    selections = Selections(subject(selections=tuple(own)))
    found = [selections.attach("train", lane(0)) for _ in range(number)]
    mine = [one for one in own if one.name == "nad0"]
    kept = [one.interface for one in found if one.selected]
    assert kept == [one.interface for one in mine[:number]]
    assert len(selections.unmatched()) + len(kept) == len(own)
    others = Counter(one for one in own if one.name != "nad0")
    assert Counter(one for one in selections.unmatched() if one.name != "nad0") == others


def test_an_attachment_says_where_it_comes_from() -> None:
    """Network, rail, NAD and interface, and whether the author had it already."""
    selections = Selections(subject(selections=(selected("nad1", "ib0"),)))
    first, second = selections.attach("train", lane(1)), selections.attach("train", lane(1))
    assert (first.network, first.rail, first.namespace, first.name) == (
        "train",
        "r1",
        "team-a",
        "nad1",
    )
    assert (first.interface, first.selected) == ("ib0", True)
    assert (second.interface, second.selected) == ("rdma0", False)


def test_a_nad_of_another_namespace_is_another_nad() -> None:
    """Equal names in two namespaces are two networks."""
    selections = Selections(subject(selections=(selected("nad0", "ib0", "team-b"),)))
    assert not selections.attach("train", lane(0)).selected
    assert len(selections.unmatched()) == 1


def test_the_primary_networks_element_is_no_attachment() -> None:
    """What replaces the pod's primary network is never matched, but its interface is taken."""
    primary = selected("nad0", "rdma0")
    primary = type(primary)(primary.namespace, primary.name, primary.interface, is_default=True)
    selections = Selections(subject(selections=(primary,)))
    found = selections.attach("train", lane(0))
    assert (found.interface, found.selected) == ("rdma1", False)
    assert selections.unmatched() == (primary,)
