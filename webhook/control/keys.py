"""Which of our objects have to be looked at after some changes.

Knows how objects depend on each other; pure, so that a test can list every case.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policies import names
from policies.changes import Change, Everything, Gone, Put
from policies.shapes import PartitionType
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy

OURS = (names.NETWORK, names.POLICY, names.PARTITION)


class Key(NamedTuple):
    """One of our objects: kind, namespace (empty for cluster-scoped kinds) and name."""

    kind: str
    namespace: str
    name: str


def every(snapshot: Snapshot) -> Iterator[Key]:
    """Yield every object of ours that the snapshot knows, readable or not."""
    yield from (Key(names.NETWORK, "", name) for name in snapshot.networks)
    yield from (Key(names.PARTITION, "", name) for name in snapshot.partitions)
    for namespace in snapshot.shards:
        yield from _here(namespace, snapshot)
    yield from (Key(*place) for place in snapshot.faults if place[0] in OURS)


def affected(changes: Iterable[Change], before: Snapshot, after: Snapshot) -> set[Key]:
    """Return what some changes may have given another standing.

    Args:
        changes: What happened.
        before: The snapshot without them.
        after: The snapshot with them.
    """
    found: set[Key] = set()
    for change in changes:
        if isinstance(change, Everything):
            return {*every(before), *every(after)}
        found.update(_of(change, before, after))
    return found


def _of(change: Put | Gone, before: Snapshot, after: Snapshot) -> Iterator[Key]:
    namespace, name = _place(change)
    if change.kind in OURS:
        yield Key(change.kind, namespace, name)
    if change.kind == names.NETWORK:
        yield from _granting(name, before)
        yield from _granting(name, after)
        yield from _of_fabrics({name}, before, after)
    elif change.kind == names.POLICY:
        yield from _rivals(namespace, before)
        yield from _rivals(namespace, after)
    elif change.kind == names.PARTITION:
        yield from _sharing(name, before)
        yield from _sharing(name, after)
    elif change.kind in {names.NAD, names.NAMESPACE}:
        yield from _here(namespace or name, after)
        attached = (namespace, name)
        for owner in _attaching(attached, after):
            yield from _granting(owner, after)


def _place(change: Put | Gone) -> tuple[str, str]:
    if isinstance(change, Gone):
        return change.namespace, change.name
    metadata = change.object.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _here(namespace: str, snapshot: Snapshot) -> Iterator[Key]:
    """Yield the policy of a namespace, if it has one."""
    shard = snapshot.shard(namespace)
    if shard.tenancy is not None or shard.policy_problem:
        yield Key(names.POLICY, namespace, names.POLICY_NAME)


def _granting(network: str, snapshot: Snapshot) -> Iterator[Key]:
    """Yield the policies that grant a network."""
    for namespace, shard in snapshot.shards.items():
        if shard.tenancy is not None and shard.tenancy.grant(network) is not None:
            yield Key(names.POLICY, namespace, names.POLICY_NAME)


def _attaching(place: tuple[str, str], snapshot: Snapshot) -> Iterator[str]:
    """Yield the networks that have a NAD of this namespace as a rail of everybody's."""
    for network in snapshot.networks.values():
        for rail in network.model.spec.rails if network.model else ():
            named = rail.network_attachment
            if named is not None and (named.namespace, named.name) == place:
                yield network.name


def _of_fabrics(changed: set[str], before: Snapshot, after: Snapshot) -> Iterator[Key]:
    """Yield the policies that grant a network of the fabrics that some networks are in."""
    fabrics = {
        one.networks[name].fabric
        for one in (before, after)
        for name in changed
        if name in one.networks
    }
    for network in after.networks.values():
        if network.fabric in fabrics and network.name not in changed:
            yield from _granting(network.name, after)


def _sharing(name: str, snapshot: Snapshot) -> Iterator[Key]:
    """Yield the policies that an RDMAPartition's number concerns: its tenant's, and its namers'."""
    claim = snapshot.partitions.get(name)
    if claim is None:
        return
    spec = claim.spec
    for namespace, shard in snapshot.shards.items():
        if shard.tenancy is not None and shard.tenancy.tenant == spec.tenant:
            yield Key(names.POLICY, namespace, names.POLICY_NAME)
    yield from _naming(spec.fabric, spec.number, snapshot)


def _rivals(namespace: str, snapshot: Snapshot) -> Iterator[Key]:
    """Yield the policies that name a number that this namespace's policy names too."""
    tenancy = snapshot.shard(namespace).tenancy
    for grant in tenancy.grants if tenancy else ():
        network = snapshot.networks.get(grant.name)
        for _, number in grant.partitions if network else ():
            if network is not None and number is not None:
                yield from _naming(network.fabric, number, snapshot)


def _naming(fabric: str, number: int, snapshot: Snapshot) -> Iterator[Key]:
    """Yield the policies that name a number through any network of a fabric.

    All policies are walked, so only where tenants differ: one tenant's are no rivals.
    """
    sharing = [one.name for one in snapshot.networks.values() if one.fabric == fabric]
    tenants = {one for name in sharing for one in snapshot.claims.get((name, number), ())}
    tenants.update(_holding(fabric, number, snapshot))
    for namespace, shard in snapshot.shards.items() if len(tenants) > 1 else ():
        if shard.tenancy is not None and _names(shard.tenancy, sharing, number):
            yield Key(names.POLICY, namespace, names.POLICY_NAME)


def _holding(fabric: str, number: int, snapshot: Snapshot) -> Iterator[str]:
    for kind in PartitionType:
        yield from snapshot.holders.get((fabric, kind, number), ())


def _names(tenancy: Tenancy, networks: list[str], number: int) -> bool:
    """Whether a policy names a number through one of some networks."""
    return any(
        number == given
        for grant in tenancy.grants
        if grant.name in networks
        for _, given in grant.partitions
    )
