"""The cluster's wishes at one moment: an immutable index, cut into shards by namespace.

An event replaces one shard; readers never see half an update. An object that does not parse
stays as its last good version and its reason, and never stops the stream of events.
"""

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any, Final, assert_never

import msgspec

from policies import accept, governance, nad, names, tenancy
from policies.errors import InvalidObject
from policies.governance import Governance
from policies.nad import Nad
from policies.network import RDMANetwork
from policies.parse import parse, texts
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy
from policies.rules import Rules
from policies.shapes import PartitionType
from policies.tenancy import Tenancy


class Put(msgspec.Struct, frozen=True):
    """An object was added or changed."""

    kind: str
    object: Mapping[str, Any]


class Gone(msgspec.Struct, frozen=True):
    """An object was deleted; namespace is empty for cluster-scoped kinds."""

    kind: str
    namespace: str
    name: str


class Everything(msgspec.Struct, frozen=True):
    """A full list of one kind: what it does not hold is gone."""

    kind: str
    objects: Iterable[Mapping[str, Any]]


Change = Put | Gone | Everything


class Network(msgspec.Struct, frozen=True):
    """One RDMANetwork: the last version that parsed, and why it cannot be used where it cannot."""

    name: str
    model: RDMANetwork | None
    problem: str = ""

    @property
    def fabric(self) -> str:
        """The fabric in which its partition numbers are unique."""
        return (self.model.spec.fabric if self.model else None) or self.name


class Shard(msgspec.Struct, frozen=True):
    """What one namespace holds."""

    tenancy: Tenancy | None = None
    policy_problem: str = ""
    nads: Mapping[str, Nad] = {}
    labels: Mapping[str, str] = {}


_EMPTY_SHARD = Shard()
_Claims = Mapping[tuple[str, int], tuple[tuple[str, str], ...]]


class Snapshot(msgspec.Struct, frozen=True):
    """All that decisions may depend on; `apply` returns a new one and leaves this untouched."""

    rules: Rules
    networks: Mapping[str, Network] = {}
    shards: Mapping[str, Shard] = {}
    partitions: Mapping[str, RDMAPartition] = {}
    governance: Governance = Governance()
    claims: _Claims = {}
    """``(network, number)`` to the ``(namespace, tenant)`` whose policies name it."""
    problems: tuple[str, ...] = ()
    """Sentences about objects that do not parse or are not accepted."""
    memo: dict[Any, Any] = msgspec.field(default_factory=dict)
    """Results that depend on this snapshot alone, computed once; dropped with it."""
    decisions: dict[Any, Any] = msgspec.field(default_factory=dict)
    """Decisions by the facts of pods (see ``policies.memo``); dropped with the snapshot."""
    precedents: dict[Any, list[Any]] = msgspec.field(default_factory=dict)
    """Rulings on earlier pods (see ``webhook.admission.precedents``); dropped with the snapshot."""

    @classmethod
    def empty(cls, rules: Rules) -> "Snapshot":
        """Return a snapshot that knows nothing."""
        return cls(rules)

    def shard(self, namespace: str) -> Shard:
        """Return what a namespace holds; an empty shard where nothing is known of it."""
        return self.shards.get(namespace, _EMPTY_SHARD)

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
        """Return the tenant whose RDMAPartition claims a number, or None."""
        holders = self.memo.get("holders")
        if holders is None:
            holders = {
                (claim.spec.fabric, claim.spec.type, claim.spec.number): claim.spec.tenant
                for claim in self.partitions.values()
            }
            self.memo["holders"] = holders
        found: str | None = holders.get((fabric, kind, number))
        return found

    def claimants(self, fabric: str, kind: PartitionType, number: int) -> frozenset[str]:
        """Return the tenants whose policies name a number on a fabric."""
        return frozenset(
            tenant
            for network in self._of_fabric(fabric, kind)
            for _, tenant in self.claims.get((network, number), ())
        )

    def _of_fabric(self, fabric: str, kind: PartitionType) -> tuple[str, ...]:
        found: tuple[str, ...] | None = self.memo.get((fabric, kind))
        if found is None:
            found = tuple(
                network.name
                for network in self.networks.values()
                if network.fabric == fabric
                and network.model
                and network.model.spec.partition
                and network.model.spec.partition.type is kind
            )
            self.memo[fabric, kind] = found
        return found

    def apply(self, changes: Iterable[Change]) -> "Snapshot":
        """Return the snapshot after some changes, in order, as one step."""
        draft = _Draft(self)
        for change in changes:
            draft.take(change)
        return draft.finished()


class _Draft:
    """A snapshot in the making: copies what it touches, once."""

    def __init__(self, base: Snapshot) -> None:
        self._base = base
        self._networks = dict(base.networks)
        self._networks_changed = False
        self._partitions = base.partitions
        self._shards = dict(base.shards)
        self._claims = base.claims
        self._fresh_nads: set[str] = set()
        self._touched: set[str] = set()
        self._problems = {_subject(text): text for text in base.problems}

    def take(self, change: Change) -> None:
        """Add one change."""
        handlers = _HANDLERS.get(change.kind)
        if handlers is None:
            return
        put, gone, known = handlers
        match change:
            case Put():
                put(self, change.object)
            case Gone():
                gone(self, change.namespace, change.name)
            case Everything():
                kept: set[tuple[str, str]] = set()
                for raw in change.objects:
                    kept.add(_place(raw))
                    put(self, raw)
                for place in [place for place in known(self) if place not in kept]:
                    gone(self, *place)
            case _:
                assert_never(change)

    def finished(self) -> Snapshot:
        """Return the immutable result."""
        for namespace in self._touched:
            if self._shards[namespace] == _EMPTY_SHARD:
                del self._shards[namespace]
        governed = self._base.governance
        if self._networks_changed:
            governed = governance.of(one.model for one in self._networks.values() if one.model)
        return Snapshot(
            rules=self._base.rules,
            networks=self._networks,
            shards=self._shards,
            partitions=self._partitions,
            governance=governed,
            claims=self._claims,
            problems=tuple(self._problems.values()),
        )

    def put_network(self, raw: Mapping[str, Any]) -> None:
        _, name = _place(raw)
        known = self._networks.get(name)
        try:
            model = parse(RDMANetwork, raw)
            why = accept.problem(model.spec, self._base.rules)
            problem = f"RDMANetwork {name}: {why}" if why else ""
            self._networks[name] = Network(name, model, problem)
        except InvalidObject as err:
            problem = str(err)
            if known is None or known.model is None:
                self._networks[name] = Network(name, None, problem)
        self._networks_changed = True
        self._note(f"RDMANetwork {name}", problem)

    def drop_network(self, _: str, name: str) -> None:
        self._networks.pop(name, None)
        self._networks_changed = True
        self._note(f"RDMANetwork {name}", "")

    def put_policy(self, raw: Mapping[str, Any]) -> None:
        namespace, name = _place(raw)
        subject = f"RDMAPolicy {namespace}/{name}"
        if name != names.POLICY_NAME:
            self._note(subject, f"{subject}: metadata.name: want {names.POLICY_NAME}")
            return
        shard = self._shards.get(namespace, _EMPTY_SHARD)
        policy: Tenancy | None
        try:
            policy, problem = tenancy.compiled(parse(RDMAPolicy, raw)), ""
        except InvalidObject as err:
            policy, problem = shard.tenancy, str(err)
        self._claim(namespace, shard.tenancy, policy)
        self._set(namespace, tenancy=policy, policy_problem=problem)
        self._note(subject, problem)

    def drop_policy(self, namespace: str, name: str) -> None:
        if name == names.POLICY_NAME:
            self._claim(namespace, self._shards.get(namespace, _EMPTY_SHARD).tenancy, None)
            self._set(namespace, tenancy=None, policy_problem="")
        self._note(f"RDMAPolicy {namespace}/{name}", "")

    def put_partition(self, raw: Mapping[str, Any]) -> None:
        _, name = _place(raw)
        try:
            self._writable_partitions()[name] = parse(RDMAPartition, raw)
            self._note(f"RDMAPartition {name}", "")
        except InvalidObject as err:
            self._note(f"RDMAPartition {name}", str(err))

    def drop_partition(self, _: str, name: str) -> None:
        self._writable_partitions().pop(name, None)
        self._note(f"RDMAPartition {name}", "")

    def put_nad(self, raw: Mapping[str, Any]) -> None:
        found = nad.read(raw)
        self._nads(found.namespace)[found.name] = found

    def drop_nad(self, namespace: str, name: str) -> None:
        self._nads(namespace).pop(name, None)

    def put_namespace(self, raw: Mapping[str, Any]) -> None:
        labels = texts((raw.get("metadata") or {}).get("labels"))
        self._set(_place(raw)[1], labels={intern(key): intern(labels[key]) for key in labels})

    def drop_namespace(self, _: str, name: str) -> None:
        self._set(name, labels={})

    def networks(self) -> list[tuple[str, str]]:
        return [("", name) for name in self._networks]

    def policies(self) -> list[tuple[str, str]]:
        """Every policy seen, also one of a wrong name (it is in the problems)."""
        seen = [(ns, names.POLICY_NAME) for ns, shard in self._shards.items() if shard.tenancy]
        noted = (key.partition("/") for key in self._noted(names.POLICY))
        return [*seen, *((ns, name) for ns, _, name in noted)]

    def partitions(self) -> list[tuple[str, str]]:
        """Every partition seen, also one that never parsed (it is in the problems)."""
        return [("", name) for name in {*self._partitions, *self._noted(names.PARTITION)}]

    def nads(self) -> list[tuple[str, str]]:
        return [(ns, name) for ns, shard in self._shards.items() for name in shard.nads]

    def namespaces(self) -> list[tuple[str, str]]:
        return [("", name) for name, shard in self._shards.items() if shard.labels]

    def _noted(self, kind: str) -> list[str]:
        """Return the names, as messages write them, of a kind's objects with a problem."""
        return [key[len(kind) + 1 :] for key in self._problems if key.startswith(f"{kind} ")]

    def _nads(self, namespace: str) -> dict[str, Nad]:
        """Return the namespace's NADs for writing: a copy, made once in this draft."""
        shard = self._shards.get(namespace, _EMPTY_SHARD)
        if namespace not in self._fresh_nads:
            self._fresh_nads.add(namespace)
            self._set(namespace, nads=dict(shard.nads))
        found = self._shards[namespace].nads
        assert isinstance(found, dict)  # noqa: S101 made just above
        return found

    def _set(self, namespace: str, **fields: Any) -> None:  # noqa: ANN401 any field of Shard
        namespace = intern(namespace)
        self._touched.add(namespace)
        shard = self._shards.get(namespace, _EMPTY_SHARD)
        self._shards[namespace] = msgspec.structs.replace(shard, **fields)

    def _claim(self, namespace: str, before: Tenancy | None, after: Tenancy | None) -> None:
        """Move a policy's explicit numbers in the index of claims."""
        old, new = _numbers(before), _numbers(after)
        if old == new and (before and before.tenant) == (after and after.tenant):
            return
        claims = self._writable_claims()
        for place in old:
            left = tuple(claim for claim in claims.pop(place) if claim[0] != namespace)
            if left:
                claims[place] = left
        for place in new:
            claims[place] = (*claims.get(place, ()), (namespace, after.tenant if after else ""))

    def _writable_claims(self) -> dict[tuple[str, int], tuple[tuple[str, str], ...]]:
        """Return the claims for writing: a copy, made once in this draft."""
        if self._claims is self._base.claims or not isinstance(self._claims, dict):
            self._claims = dict(self._claims)
        return self._claims

    def _writable_partitions(self) -> dict[str, RDMAPartition]:
        """Return the partitions for writing: a copy, made once in this draft."""
        if self._partitions is self._base.partitions or not isinstance(self._partitions, dict):
            self._partitions = dict(self._partitions)
        return self._partitions

    def _note(self, subject: str, problem: str) -> None:
        if problem:
            self._problems[subject] = problem
        else:
            self._problems.pop(subject, None)


def _place(raw: Mapping[str, Any]) -> tuple[str, str]:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


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


def _subject(problem: str) -> str:
    return problem.split(":", 1)[0]


_HANDLERS: Final[Mapping[str, tuple[Any, Any, Any]]] = {
    names.NETWORK: (_Draft.put_network, _Draft.drop_network, _Draft.networks),
    names.POLICY: (_Draft.put_policy, _Draft.drop_policy, _Draft.policies),
    names.PARTITION: (_Draft.put_partition, _Draft.drop_partition, _Draft.partitions),
    names.NAD: (_Draft.put_nad, _Draft.drop_nad, _Draft.nads),
    names.NAMESPACE: (_Draft.put_namespace, _Draft.drop_namespace, _Draft.namespaces),
}

__all__ = ["Change", "Everything", "Gone", "Network", "Put", "Shard", "Snapshot"]
