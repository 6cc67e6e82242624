"""The cluster's wishes at one moment: what decisions ask of the immutable index of objects.

Readers never see half an update: `Snapshot.apply` returns another snapshot.
"""

from collections.abc import Iterable

import msgspec

from policies import draft, names
from policies.changes import Change
from policies.index import EMPTY_SHARD, Index, Shard
from policies.nad import Nad
from policies.notes import Notes
from policies.rules import Rules
from policies.shapes import PartitionType


class Snapshot(Index, frozen=True):
    """All that decisions may depend on; `apply` returns a new one and leaves this untouched."""

    notes: Notes = msgspec.field(default_factory=Notes)
    """What was worked out from this snapshot."""

    @classmethod
    def empty(cls, rules: Rules) -> "Snapshot":
        """Return a snapshot that knows nothing."""
        return cls(rules)

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about objects that do not parse or are not accepted."""
        return tuple(self.faults[place] for place in sorted(self.faults))

    def shard(self, namespace: str) -> Shard:
        """Return what a namespace holds; an empty shard where nothing is known of it."""
        return self.shards.get(namespace, EMPTY_SHARD)

    def nad(self, namespace: str, name: str) -> Nad | None:
        """Return a NetworkAttachmentDefinition, or None where it is not known."""
        return self.shard(namespace).nads.get(name)

    def knows(self, kind: str, namespace: str, name: str) -> bool:
        """Whether an object that a pod waited for is there, readable or not."""
        if kind == names.POLICY:
            shard = self.shard(namespace)
            return shard.tenancy is not None or bool(shard.policy_problem)
        if kind == names.NETWORK:
            return name in self.networks
        return self.nad(namespace, name) is not None

    def holder(self, fabric: str, kind: PartitionType, number: int) -> str | None:
        """Return the tenant whose RDMAPartition holds a number, or None; of several the first."""
        return min(self.holders.get((fabric, kind, number), ()), default=None)

    def claimants(self, fabric: str, kind: PartitionType, number: int) -> frozenset[str]:
        """Return the tenants whose policies name a number on a fabric."""

        def of_fabric() -> list[str]:
            return [one.name for one in self.networks.values() if one.carries(fabric, kind)]

        return frozenset(
            tenant
            for network in self.notes.once(__name__, (fabric, kind), of_fabric)
            for tenant in self.claims.get((network, number), ())
        )

    def apply(self, changes: Iterable[Change]) -> "Snapshot":
        """Return the snapshot after some changes, in order, as one step.

        It is this very snapshot, with all its notes, where the changes leave everything as it is
        (a status that was written, a list that says the same again).
        """
        index = draft.changed(self, changes)
        if index is self:
            return self
        return Snapshot(**{name: getattr(index, name) for name in index.__struct_fields__})
