"""Which tenants have which numbers."""

from typing import Any

from immutables import Map

from policies.claims import Claims, Holders, hand_over, move
from policies.overlay import Overlay
from policies.parse import parse
from policies.partition import RDMAPartition
from policies.shapes import PartitionType
from policies.tally import Counts
from policies.tenancy import Tenancy
from tests.harness.cluster import claim, granted, policy, snapshot

NONE: Claims = Map()
NOBODY: Holders = Map()
VLAN = PartitionType.VLAN


def tenancy(*numbers: int, tenant: str = "acme", namespace: str = "team-a") -> Tenancy:
    """Return a policy that names numbers on networks n0, n1 and so on."""
    grants = [granted(f"n{index}", number) for index, number in enumerate(numbers)]
    one = policy(*grants, tenant=tenant)
    one["metadata"]["namespace"] = namespace
    found = snapshot(one).shard(namespace).tenancy
    assert found is not None
    return found


def counted(tally: Overlay[Any, Counts]) -> dict[Any, dict[str, int]]:
    """The counts as they are now, as plain dicts."""
    return {key: dict(counts) for key, counts in tally.finished().items()}


def held(tenant: str, number: int = 210) -> RDMAPartition:
    """Return a partition of fabric leaf."""
    return parse(RDMAPartition, claim("p", tenant, number))


def test_claims_follow_a_policy() -> None:
    """What it named before is taken back, what it names now is noted."""
    claims = Overlay(NONE)
    first, second = tenancy(210, 220), tenancy(211)
    move(claims, None, first)
    assert counted(claims) == {("n0", 210): {"acme": 1}, ("n1", 220): {"acme": 1}}
    move(claims, first, second)
    assert counted(claims) == {("n0", 211): {"acme": 1}}
    move(claims, second, None)
    assert counted(claims) == {}


def test_two_policies_can_name_one_number() -> None:
    """Each is counted, and one that goes leaves the other's claim."""
    claims = Overlay(NONE)
    one, two = tenancy(210), tenancy(210, namespace="team-b")
    rival = tenancy(210, tenant="beta", namespace="team-c")
    for policy_ in (one, two, rival):
        move(claims, None, policy_)
    assert counted(claims) == {("n0", 210): {"acme": 2, "beta": 1}}
    move(claims, one, None)
    assert counted(claims) == {("n0", 210): {"acme": 1, "beta": 1}}
    move(claims, two, None)
    assert counted(claims) == {("n0", 210): {"beta": 1}}


def test_a_change_of_something_else_moves_nothing() -> None:
    """Numbers and tenant are all that counts."""
    claims = Overlay(NONE)
    move(claims, None, tenancy(210))
    base = claims.finished()
    again = Overlay(base)
    move(again, tenancy(210), tenancy(210))
    assert again.finished() is base


def test_a_number_is_handed_over() -> None:
    """The partition's next version holds what it says, and nothing of the last one stays."""
    holders = Overlay(NOBODY)
    hand_over(holders, None, held("acme"))
    hand_over(holders, held("acme"), held("beta", 211))
    assert counted(holders) == {("leaf", VLAN, 211): {"beta": 1}}
    hand_over(holders, held("beta", 211), None)
    assert counted(holders) == {}
