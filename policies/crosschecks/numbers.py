"""Who names which number on a fabric: what the checks of all kinds ask."""

from collections.abc import Iterable

from policies.shapes import PartitionType
from policies.snapshot import Snapshot

Namer = tuple[str, str]
"""``(namespace, tenant)`` of a policy that names a number."""


def namers(
    snapshot: Snapshot, fabric: str, kind: PartitionType, number: int, *networks: str
) -> tuple[Namer, ...]:
    """Return the policies that name a number on a fabric, each once, in order of namespaces.

    Args:
        snapshot: What is known.
        fabric: In which numbers are unique.
        kind: VLAN or PKey.
        number: The number.
        networks: Further networks that count as of this fabric, such as one under review.
    """

    def of_fabric() -> tuple[str, ...]:
        return tuple(one.name for one in snapshot.networks.values() if one.carries(fabric, kind))

    known = snapshot.notes.once(__name__, (fabric, kind), of_fabric)
    found = {
        namer for name in (*known, *networks) for namer in snapshot.claims.get((name, number), ())
    }
    return tuple(sorted(found))


def namespaces(found: Iterable[Namer]) -> list[str]:
    """Return the namespaces of some policies, in their order."""
    return [namespace for namespace, _ in found]


def is_disputed(holder: str | None, tenants: Iterable[str]) -> bool:
    """Whether pods are refused for a number's sake: not all who name it are its one owner.

    Args:
        holder: The tenant whose RDMAPartition claims the number, or None.
        tenants: Those whose policies name it.
    """
    named = set(tenants)
    return len(named) > 1 if holder is None else bool(named - {holder})
