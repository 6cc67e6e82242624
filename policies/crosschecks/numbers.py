"""Who names which number on a fabric: what the checks of all kinds ask."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from policies.shapes import PartitionType
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy

Namer = tuple[str, str]
"""``(namespace, tenant)`` of a policy that names a number."""


def rivals(
    snapshot: Snapshot, fabric: str, kind: PartitionType, number: int, namespace: str
) -> set[str]:
    """Return the tenants whose policies name a number on a fabric, those of one namespace aside.

    Args:
        snapshot: What is known.
        fabric: In which numbers are unique.
        kind: VLAN or PKey.
        number: The number.
        namespace: Whose policy does not count.
    """
    own = snapshot.shard(namespace).tenancy
    return {
        tenant
        for network in _sharing(snapshot, fabric, kind)
        for tenant, count in snapshot.claims.get((network, number), {}).items()
        if count > (own is not None and own.tenant == tenant and names(own, network, number))
    }


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
    found = {
        namer
        for network in (*_sharing(snapshot, fabric, kind), *networks)
        if (network, number) in snapshot.claims
        for namer in naming(snapshot, network, number)
    }
    return tuple(sorted(found))


def naming(snapshot: Snapshot, network: str, number: int) -> tuple[Namer, ...]:
    """Return the policies that name a number on one network, in order of namespaces."""
    policies = (snapshot.shard(one).tenancy for one in granting(snapshot).get(network, ()))
    return tuple(
        (policy.namespace, policy.tenant)
        for policy in policies
        if policy is not None and names(policy, network, number)
    )


def names(policy: Tenancy, network: str, number: int) -> bool:
    """Whether a policy names a number on a network."""
    grant = policy.grant(network)
    return grant is not None and any(number == given for _, given in grant.partitions)


def granting(snapshot: Snapshot) -> Mapping[str, list[str]]:
    """Return the namespaces of the policies that name each network, in order."""

    def by_network() -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for namespace, shard in sorted(snapshot.shards.items()):
            for grant in shard.tenancy.grants if shard.tenancy else ():
                found[grant.name].append(namespace)
        return dict(found)

    return snapshot.notes.once(__name__, "granting", by_network)


def _sharing(snapshot: Snapshot, fabric: str, kind: PartitionType) -> tuple[str, ...]:
    """Return the networks whose numbers of one kind are those of one fabric."""

    def of_fabric() -> tuple[str, ...]:
        return tuple(one.name for one in snapshot.networks.values() if one.carries(fabric, kind))

    return snapshot.notes.once(__name__, (fabric, kind), of_fabric)


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
