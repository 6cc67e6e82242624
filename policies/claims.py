"""Which tenants have which numbers: counts that follow the policies and partitions one by one."""

from typing import TypeAlias

from immutables import Map

from policies.overlay import Overlay
from policies.partition import RDMAPartition
from policies.shapes import PartitionType
from policies.tally import Counts, count
from policies.tenancy import Tenancy

Claims: TypeAlias = Map[tuple[str, int], Counts]
"""``(network, number)`` to the tenants whose policies name it, each with how many do."""
Holders: TypeAlias = Map[tuple[str, PartitionType, int], Counts]
"""``(fabric, type, number)`` to the tenants whose partitions hold it, each with how many do."""


def move(
    claims: Overlay[tuple[str, int], Counts], before: Tenancy | None, after: Tenancy | None
) -> None:
    """Replace a policy's claims, in place.

    Args:
        claims: The counts; they hold what `before` claims.
        before: The policy's last version, or None.
        after: Its next version, or None.
    """
    for policy, step in ((before, -1), (after, 1)):
        for place in _numbers(policy):
            assert policy is not None  # noqa: S101 it names a number
            count(claims, place, policy.tenant, step)


def hand_over(
    holders: Overlay[tuple[str, PartitionType, int], Counts],
    before: RDMAPartition | None,
    after: RDMAPartition | None,
) -> None:
    """Replace what a partition holds, in place.

    Args:
        holders: The counts; they hold what `before` holds.
        before: The partition's last version, or None.
        after: Its next version, or None.
    """
    for partition, step in ((before, -1), (after, 1)):
        if partition is not None:
            spec = partition.spec
            count(holders, (spec.fabric, spec.type, spec.number), spec.tenant, step)


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
