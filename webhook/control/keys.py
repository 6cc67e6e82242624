"""Which of our objects have to be looked at after some changes.

Knows how objects depend on each other; pure, so that a test can list every case. What has to walk
many objects yields None for each one that is not concerned, so that whoever asks can pause.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policies import names
from policies.changes import Change, Everything, Gone, Put
from policies.index import Shard
from policies.shapes import PartitionType
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy

OURS = (names.NETWORK, names.POLICY, names.PARTITION)


class Key(NamedTuple):
    """One of our objects: kind, namespace (empty for cluster-scoped kinds) and name."""

    kind: str
    namespace: str
    name: str


Steps = Iterator[Key | None]
"""Keys, and None for each step that found none."""


def every(snapshot: Snapshot) -> Steps:
    """Yield every object of ours that the snapshot knows, readable or not."""
    yield from (Key(names.NETWORK, "", name) for name in snapshot.networks)
    yield from (Key(names.PARTITION, "", name) for name in snapshot.partitions)
    for namespace, shard in snapshot.shards.items():
        yield _policy(namespace) if _has_policy(shard) else None
    yield from (Key(*place) if place[0] in OURS else None for place in snapshot.faults)


def affected(changes: Iterable[Change], before: Snapshot, after: Snapshot) -> Steps:
    """Yield what some changes may have given another standing.

    Args:
        changes: What happened.
        before: The snapshot without them.
        after: The snapshot with them.
    """
    concern = _Concern(before, after)
    for change in changes:
        if isinstance(change, Everything):
            yield from every(before)
            yield from every(after)
            return
        yield from concern.take(change)
    yield from concern.policies()


class _Concern:
    """What policies have to have to do with, so that some changes concern them."""

    def __init__(self, before: Snapshot, after: Snapshot) -> None:
        self._before = before
        self._after = after
        self._namespaces: set[str] = set()
        self._tenants: set[str] = set()
        self._networks: set[str] = set()
        """Granted by them."""
        self._numbers: set[tuple[str, int]] = set()
        """``(network, number)`` named by them."""
        if _owners(before) != _owners(after):
            self._networks.update(_open(after))

    def take(self, change: Put | Gone) -> Steps:
        """Note one change; yield the objects that it is about."""
        namespace, name = _place(change)
        yield Key(change.kind, namespace, name) if change.kind in OURS else None
        both = (self._before, self._after)
        match change.kind:
            case names.NETWORK:
                self._networks.update(_neighbours(name, both))
            case names.POLICY:
                for snapshot in both:
                    self._numbers.update(_rivalled(snapshot.shard(namespace).tenancy, snapshot))
            case names.PARTITION:
                for snapshot in both:
                    self._take_claim(name, snapshot)
            case names.NAD:
                self._namespaces.add(namespace)
                for owner in _attaching((namespace, name), both):
                    self._networks.add(owner)
                    yield Key(names.NETWORK, "", owner)

    def policies(self) -> Steps:
        """Yield the policies that are concerned."""
        if not (self._networks or self._numbers or self._tenants):
            for namespace in self._namespaces:
                yield _policy(namespace) if _has_policy(self._after.shard(namespace)) else None
            return
        for namespace, shard in self._after.shards.items():
            yield _policy(namespace) if self._concerns(namespace, shard) else None

    def _take_claim(self, name: str, snapshot: Snapshot) -> None:
        """Note an RDMAPartition: it counts for its tenant, and its number for who names it."""
        claim = snapshot.partitions.get(name)
        if claim is not None:
            self._tenants.add(claim.spec.tenant)
            self._numbers.update(_contested(claim.spec.fabric, claim.spec.number, snapshot))

    def _concerns(self, namespace: str, shard: Shard) -> bool:
        tenancy = shard.tenancy
        if tenancy is None:
            return namespace in self._namespaces and _has_policy(shard)
        return (
            namespace in self._namespaces
            or tenancy.tenant in self._tenants
            or any(
                grant.name in self._networks
                or any((grant.name, number) in self._numbers for _, number in grant.partitions)
                for grant in tenancy.grants
            )
        )


def _place(change: Put | Gone) -> tuple[str, str]:
    if isinstance(change, Gone):
        return change.namespace, change.name
    metadata = change.object.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _policy(namespace: str) -> Key:
    return Key(names.POLICY, namespace, names.POLICY_NAME)


def _has_policy(shard: Shard) -> bool:
    return shard.tenancy is not None or bool(shard.policy_problem)


def _owners(snapshot: Snapshot) -> tuple[object, object]:
    """Return which networks use which resources and interfaces."""
    return snapshot.governance.resources, snapshot.governance.interfaces


def _open(snapshot: Snapshot) -> Iterator[str]:
    """Yield the networks whose rails name NADs of any namespace.

    What those may use depends on what the other networks use.
    """
    for network in snapshot.networks.values():
        for rail in network.model.spec.rails if network.model else ():
            if rail.network_attachment is None or not rail.network_attachment.namespace:
                yield network.name


def _neighbours(name: str, snapshots: tuple[Snapshot, Snapshot]) -> set[str]:
    """Return a network and all those of the fabrics that it is or was in."""
    found = (snapshot.networks.get(name) for snapshot in snapshots)
    fabrics = {one.fabric for one in found if one is not None}
    return {name, *(one for fabric in fabrics for one in _sharing(fabric, snapshots[-1]))}


def _attaching(place: tuple[str, str], snapshots: tuple[Snapshot, Snapshot]) -> Iterator[str]:
    """Yield the networks that name a NAD as one of their rails."""
    for snapshot in snapshots:
        if place not in snapshot.governance.attachments:
            continue
        for network in snapshot.networks.values():
            for rail in network.model.spec.rails if network.model else ():
                named = rail.network_attachment
                if named is not None and (named.namespace, named.name) == place:
                    yield network.name


def _rivalled(tenancy: Tenancy | None, snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """Yield the numbers of a policy that another tenant has too, through whatever network."""
    for grant in tenancy.grants if tenancy else ():
        network = snapshot.networks.get(grant.name)
        for _, number in grant.partitions if network else ():
            if network is not None and number is not None:
                yield from _contested(network.fabric, number, snapshot)


def _contested(fabric: str, number: int, snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """Yield ``(network, number)`` for each network of a fabric where tenants differ.

    One tenant's policies are no rivals.
    """
    sharing = _sharing(fabric, snapshot)
    tenants = {one for name in sharing for one in snapshot.claims.get((name, number), ())}
    for kind in PartitionType:
        tenants.update(snapshot.holders.get((fabric, kind, number), ()))
    if len(tenants) > 1:
        yield from ((name, number) for name in sharing)


def _sharing(fabric: str, snapshot: Snapshot) -> list[str]:
    """Return the networks of a fabric."""

    def of_fabric() -> list[str]:
        return [one.name for one in snapshot.networks.values() if one.fabric == fabric]

    return snapshot.notes.once(__name__, fabric, of_fabric)
