"""What each container and each network comes to, while a pod's networks are taken in turn."""

from typing import Any

import pytest
from msgspec.structs import replace

from policies.refusal import Reason, Refusal
from policies.select import Applicable, select
from policies.shares import Shares
from policies.subject import Selected, Subject
from tests.harness.cluster import nad, network, policy, rail, snapshot
from tests.harness.subjects import container, init, selected, subject

Object = dict[str, Any]

CLUSTER = snapshot(
    network("vf", "SRIOVEthernet", rail("r0", "nvidia.com/vf")),
    network("other", "SRIOVEthernet", rail("r0", "nvidia.com/other")),
    network("vf-too", "SRIOVEthernet", rail("r0", "nvidia.com/vf")),
    network("mv", "Macvlan", rail("r0", "rdma/hca", master="ens1")),
    network("ib", "DeviceOnly", rail("r0", "rdma/a"), rail("r1", "rdma/b"), perAccelerator=3),
    network("own", "Macvlan", {"name": "r0", "networkAttachment": {"name": "shared"}}),
    nad("rdma-vf-r0-none", "nvidia.com/vf", type="sriov"),
    nad("rdma-vf-too-r0-none", "nvidia.com/vf", type="sriov"),
    nad("rdma-other-r0-none", "nvidia.com/other", type="sriov"),
    nad("rdma-mv-r0-none", type="macvlan", master="ens1"),
    nad("shared", "rdma/pool", type="macvlan"),
    nad("storage", "intel.com/storage", type="sriov"),
    nad("unread", "nvidia.com/vf"),
    policy("vf", "vf-too", "mv", "ib", "own"),
)


def shares(one: Subject) -> Shares | Refusal:
    """The sums of a pod, with what its author selected by hand."""
    applicable = select(one, CLUSTER)
    assert isinstance(applicable, Applicable), applicable
    found = Shares(one)
    for order in applicable.orders:
        refusal = found.take(order, applicable.wish)
        if refusal is not None:
            return refusal
    found.count_by_hand(CLUSTER)
    found.charge_excess(applicable.orders)
    return found


def needs(one: Subject) -> dict[str, dict[str, int]]:
    """The resources of every container that takes part."""
    found = shares(one)
    assert isinstance(found, Shares)
    return {box.name: dict(box.resources) for box in found.equipped()}


def test_tokens_by_accelerator_are_counted_for_each_container() -> None:
    """A container gets the tokens of its own accelerators, dealt over the pools."""
    one = subject("ib", container("a", gpus=1), container("b", gpus=2))
    assert needs(one) == {"a": {"rdma/a": 2, "rdma/b": 1}, "b": {"rdma/a": 3, "rdma/b": 3}}
    found = shares(one)
    assert isinstance(found, Shares)
    assert found.totals == {"ib": 9}


def test_networks_of_one_pool_share_what_is_there() -> None:
    """A pod that got its devices already is charged for each network's own, not for all."""
    for wish, asked, totals in (
        ("vf:1,vf-too:2", 3, {"vf": 1, "vf-too": 2}),
        ("vf:1,vf-too:2", 5, {"vf": 3, "vf-too": 2}),
        ("vf-too,vf", 2, {"vf-too": 1, "vf": 1}),
    ):
        found = shares(subject(wish, container(resources={"nvidia.com/vf": asked})))
        assert isinstance(found, Shares)
        assert found.totals == totals


def test_more_than_the_need_stays_and_counts() -> None:
    """Requests are topped up, never added to; the limit sees what the pod really gets."""
    for one, resources, total in (
        (
            subject("vf", container(resources={"nvidia.com/vf": 3})),
            {"main": {"nvidia.com/vf": 3}},
            {"vf": 3},
        ),
        (
            subject("ib:2", container(resources={"rdma/a": 4, "rdma/b": 1})),
            {"main": {"rdma/a": 4, "rdma/b": 1}},
            {"ib": 5},
        ),
        (
            subject("mv", container(resources={"rdma/hca": 2})),
            {"main": {"rdma/hca": 2}},
            {"mv": 1},
        ),
        (
            subject("vf:2", container(resources={"nvidia.com/vf": 1})),
            {"main": {"nvidia.com/vf": 2}},
            {"vf": 2},
        ),
    ):
        found = shares(one)
        assert isinstance(found, Shares)
        assert (needs(one), found.totals) == (resources, total)


def test_a_count_is_that_of_every_container() -> None:
    """COUNT tokens for each: the whole pod has as many times that."""
    found = shares(subject("ib:2", container("a", gpus=1), container("b", gpus=2)))
    assert isinstance(found, Shares)
    assert found.totals == {"ib": 4}


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        pytest.param(subject("ib"), Reason.ACCELERATOR_MISSING, id="tokens by no accelerator"),
        pytest.param(subject("mv:2"), Reason.COUNT_OUT_OF_RANGE, id="more than one a rail"),
        pytest.param(
            subject("vf", container(resources={"nvidia.com/vf": 0})),
            Reason.CONTAINERS_EXCLUDED,
            id="no container",
        ),
    ],
)
def test_a_network_that_cannot_be_had_is_refused(one: Subject, reason: Reason) -> None:
    """The first refusal is the answer."""
    found = shares(one)
    assert isinstance(found, Refusal)
    assert found.reason is reason


GPU = container("gpu", gpus=1)
ASKS = container("asks", {"nvidia.com/vf": 1})
SETUP = init("setup", {"nvidia.com/other": 1})


@pytest.mark.parametrize(
    ("one", "own", "expected"),
    [
        pytest.param(
            subject("vf", GPU, container("b")),
            selected("rdma-vf-r0-none"),
            {"gpu": {"nvidia.com/vf": 1}},
            id="the attachment itself takes none further",
        ),
        pytest.param(
            subject("mv", container("a"), ASKS),
            selected("rdma-vf-r0-none"),
            {"a": {"rdma/hca": 1}, "asks": {"nvidia.com/vf": 1}},
            id="the container that asks for the device",
        ),
        pytest.param(
            subject("mv", SETUP, container("a")),
            selected("rdma-other-r0-none"),
            {"a": {"rdma/hca": 1, "nvidia.com/other": 1}},
            id="the equipped one, never a plain init container",
        ),
        pytest.param(
            subject("mv"),
            selected("shared"),
            {"main": {"rdma/hca": 1, "rdma/pool": 1}},
            id="one token of a shared pool",
        ),
        pytest.param(
            subject("mv"), selected("storage"), {"main": {"rdma/hca": 1}}, id="none of our business"
        ),
        pytest.param(
            subject("mv"), selected("absent"), {"main": {"rdma/hca": 1}}, id="a NAD that is absent"
        ),
        pytest.param(
            subject("mv"),
            selected("unread"),
            {"main": {"rdma/hca": 1, "nvidia.com/vf": 1}},
            id="one that cannot be read is a token at least",
        ),
        pytest.param(
            subject("vf"),
            replace(selected("rdma-vf-r0-none", "eth0"), is_default=True),
            {"main": {"nvidia.com/vf": 2}},
            id="the primary network takes a device too",
        ),
    ],
)
def test_what_is_selected_by_hand_takes_its_device(
    one: Subject, own: Selected, expected: dict[str, dict[str, int]]
) -> None:
    """Multus hands devices out by element, so a container has to ask for each."""
    assert needs(replace(one, selections=(own,))) == expected


def test_elements_by_hand_take_a_device_each() -> None:
    """Two more of one NAD are two more devices; a token is one however often it is named."""
    vfs = tuple(selected("rdma-vf-r0-none", f"ib{n}") for n in range(3))
    pools = tuple(selected("shared", f"mv{n}") for n in range(2))
    assert needs(subject("vf:1", selections=(*vfs, *pools))) == {
        "main": {"nvidia.com/vf": 3, "rdma/pool": 1}
    }
