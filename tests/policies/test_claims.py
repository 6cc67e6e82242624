"""Which tenants' policies name which numbers."""

from policies.claims import MutableClaims, is_same, move
from policies.tenancy import Tenancy
from tests.harness.cluster import granted, policy, snapshot


def tenancy(*numbers: int, tenant: str = "acme", namespace: str = "team-a") -> Tenancy:
    """Return a policy that names numbers on networks n0, n1 and so on."""
    grants = [granted(f"n{index}", number) for index, number in enumerate(numbers)]
    one = policy(*grants, tenant=tenant)
    one["metadata"]["namespace"] = namespace
    found = snapshot(one).shard(namespace).tenancy
    assert found is not None
    return found


def test_claims_follow_a_policy() -> None:
    """What it named before is taken back, what it names now is noted."""
    claims: MutableClaims = {}
    first, second = tenancy(210, 220), tenancy(211)
    move(claims, "team-a", None, first)
    assert claims == {("n0", 210): (("team-a", "acme"),), ("n1", 220): (("team-a", "acme"),)}
    move(claims, "team-a", first, second)
    assert claims == {("n0", 211): (("team-a", "acme"),)}
    move(claims, "team-a", second, None)
    assert claims == {}


def test_two_policies_can_name_one_number() -> None:
    """Each is noted, and one that goes leaves the other's claim."""
    claims: MutableClaims = {}
    one, two = tenancy(210), tenancy(210, tenant="beta", namespace="team-b")
    move(claims, "team-a", None, one)
    move(claims, "team-b", None, two)
    assert set(claims["n0", 210]) == {("team-a", "acme"), ("team-b", "beta")}
    move(claims, "team-a", one, None)
    assert claims == {("n0", 210): (("team-b", "beta"),)}


def test_a_change_of_something_else_moves_nothing() -> None:
    """Numbers and tenant are all that counts."""
    assert is_same(tenancy(210), tenancy(210))
    assert is_same(None, None)
    assert not is_same(tenancy(210), tenancy(211))
    assert not is_same(tenancy(210), tenancy(210, tenant="beta"))
    assert not is_same(tenancy(210), None)
