"""Which tenants' policies name which numbers: an index that follows the policies."""

from collections.abc import Mapping

from policies.tenancy import Tenancy

Claims = Mapping[tuple[str, int], tuple[tuple[str, str], ...]]
"""``(network, number)`` to the ``(namespace, tenant)`` of each policy that names it."""
MutableClaims = dict[tuple[str, int], tuple[tuple[str, str], ...]]


def is_same(before: Tenancy | None, after: Tenancy | None) -> bool:
    """Whether two versions of a policy claim the same numbers for the same tenant."""
    tenants = (before.tenant if before else None, after.tenant if after else None)
    return tenants[0] == tenants[1] and _numbers(before) == _numbers(after)


def move(
    claims: MutableClaims, namespace: str, before: Tenancy | None, after: Tenancy | None
) -> None:
    """Replace a policy's claims, in place.

    Args:
        claims: The index; it holds what `before` claims.
        namespace: Of the policy.
        before: Its last version, or None.
        after: Its next version, or None.
    """
    for place in _numbers(before):
        left = tuple(claim for claim in claims.pop(place) if claim[0] != namespace)
        if left:
            claims[place] = left
    if after is not None:
        for place in _numbers(after):
            claims[place] = (*claims.get(place, ()), (namespace, after.tenant))


def _numbers(policy: Tenancy | None) -> set[tuple[str, int]]:
    """Return the ``(network, number)`` that a policy names."""
    if policy is None:
        return set()
    return {
        (grant.name, number)
        for grant in policy.grants
        for _, number in grant.partitions
        if number is not None
    }
