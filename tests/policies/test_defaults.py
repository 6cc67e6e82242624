"""What a pod gets where it says nothing itself, and who goes before whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.defaults import NOTHING, Defaults, beside, first_wins, largest, over, read, united
from policies.quantity import parse
from policies.shapes import PodDefaults
from tests.harness.budgets import small

PAIRS = st.sampled_from(
    [
        (),
        (("A", "1"),),
        (("A", "2"), ("B", "1")),
        (("B", "2"), ("C", "1")),
        (("C", "2"), ("A", "1")),
    ]
)
CAPABILITIES = st.sampled_from([(), ("A",), ("A", "B"), ("C", "A")])
TOLERATIONS = st.sampled_from([(), ({"key": "A"},), ({"key": "B"}, {"key": "A"})])
DEFAULTS = st.builds(
    Defaults,
    add=st.none() | CAPABILITIES,
    drop=CAPABILITIES,
    shared_memory=st.none() | st.sampled_from(["0", "1Gi", "1024Mi", "2G"]),
    env=PAIRS,
    hugepages=PAIRS,
    node_selector=PAIRS,
    tolerations=TOLERATIONS,
)


def test_a_cr_is_read_into_compact_form() -> None:
    """Every field of ``podDefaults``, in its order."""
    shape = PodDefaults.model_validate(
        {
            "capabilities": {"add": ["B", "A"], "drop": ["C"]},
            "sharedMemory": "16Gi",
            "env": [{"name": "X", "value": "1"}, {"name": "Y"}],
            "hugepages": {"hugepages-2Mi": "1Gi"},
            "nodeSelector": {"zone": "a"},
            "tolerations": [{"key": "rdma", "operator": "Exists"}],
        }
    )
    assert read(shape) == Defaults(
        add=("B", "A"),
        drop=("C",),
        shared_memory="16Gi",
        env=(("X", "1"), ("Y", "")),
        hugepages=(("hugepages-2Mi", "1Gi"),),
        node_selector=(("zone", "a"),),
        tolerations=({"key": "rdma", "operator": "Exists"},),
    )


def test_an_empty_cr_says_nothing() -> None:
    """One value stands for all policies without defaults; an empty ``add`` says something."""
    assert read(PodDefaults()) is NOTHING
    assert read(PodDefaults.model_validate({"capabilities": {"drop": []}})) is NOTHING
    assert read(PodDefaults.model_validate({"capabilities": {"add": []}})) == Defaults(add=())


@small
@given(policy=DEFAULTS, network=DEFAULTS)
def test_the_policy_goes_before_the_network(policy: Defaults, network: Defaults) -> None:
    """What the policy says stays; what only the network says is there; drops are united."""
    found = over(policy, network)
    assert found.add == (network.add if policy.add is None else policy.add)
    assert found.shared_memory == (policy.shared_memory or network.shared_memory)
    for field in ("env", "hugepages", "node_selector"):
        expected = {**dict(getattr(network, field)), **dict(getattr(policy, field))}
        assert dict(getattr(found, field)) == expected
        assert len(getattr(found, field)) == len(expected)
    assert set(found.drop) == {*policy.drop, *network.drop}
    assert all(one in found.tolerations for one in (*policy.tolerations, *network.tolerations))


@small
@given(one=DEFAULTS)
def test_nothing_changes_nothing(one: Defaults) -> None:
    """Whoever says nothing is as if absent."""
    assert over(NOTHING, one) is one
    assert over(one, NOTHING) == one
    assert beside((one,)) is one
    if one.add is None and one.shared_memory is None:
        assert beside((one, NOTHING)) == one
    assert over(one, one) == beside((one, one)) == one


def test_a_network_that_says_nothing_still_needs_what_rdma_needs() -> None:
    """Another network's own list takes nothing away from it."""
    assert beside((Defaults(add=()), NOTHING)).add == ("IPC_LOCK",)
    assert beside((NOTHING, Defaults(add=("SYS_NICE",)))).add == ("IPC_LOCK", "SYS_NICE")


@small
@given(a=DEFAULTS, b=DEFAULTS, c=DEFAULTS)
def test_it_does_not_matter_how_networks_are_grouped(a: Defaults, b: Defaults, c: Defaults) -> None:
    """Merging is associative, so the order of the annotation is all that counts."""
    assert beside((beside((a, b)), c)) == beside((a, beside((b, c)))) == beside((a, b, c))
    assert over(over(a, b), c) == over(a, over(b, c))


@small
@given(several=st.lists(DEFAULTS, min_size=2, max_size=4).map(tuple))
def test_networks_side_by_side_lose_nothing(several: tuple[Defaults, ...]) -> None:
    """The first wins a variable, the largest the memory, and contradicting labels both stay."""
    found = beside(several)
    for name, value in found.env:
        assert value == next(dict(one.env)[name] for one in several if name in dict(one.env))
    assert set(found.node_selector) == {pair for one in several for pair in one.node_selector}
    sizes = [parse(one.shared_memory or "8Gi") or 0 for one in several]
    silent = all(one.shared_memory is None for one in several)
    assert parse(found.shared_memory or "x") == (None if silent else max(sizes))
    assert (found.add is None) == all(one.add is None for one in several)


def test_lists_are_united_in_order_of_first_mention() -> None:
    """Each item once, also those that cannot be hashed."""
    assert united([("b", "a"), ("a", "c")]) == ("b", "a", "c")
    assert united([({"key": 1},), ({"key": 1}, {"key": 2})]) == ({"key": 1}, {"key": 2})
    assert united([]) == ()


def test_of_one_name_the_first_mention_counts() -> None:
    """The order of first mention stays."""
    assert first_wins([(("b", "1"), ("a", "1")), (("a", "2"), ("c", "3"))]) == (
        ("b", "1"),
        ("a", "1"),
        ("c", "3"),
    )


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([], None),
        ([None, None], None),
        ([None, "1Gi", "1G"], "1Gi"),
        (["1024Mi", "1Gi"], "1024Mi"),
        (["0", None], "0"),
    ],
)
def test_the_largest_size_stays_as_it_was_written(
    sizes: list[str | None], found: str | None
) -> None:
    """Sizes are compared by value; of equal ones the first stays."""
    assert largest(sizes) == found
