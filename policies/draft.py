"""How events change the index: a new one is made, which shares all that they do not touch.

An event replaces one shard. An object that does not parse never stops the stream of events.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from sys import intern
from typing import Any, Final, assert_never

import msgspec

from policies import accept, claims, governance, nad, names, tenancy
from policies.changes import Change, Everything, Gone, Put
from policies.claims import MutableClaims
from policies.errors import InvalidObject
from policies.governance import Attached
from policies.index import EMPTY_SHARD, Index, Network
from policies.nad import Nad
from policies.network import RDMANetwork
from policies.parse import parse, texts
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy
from policies.tenancy import Tenancy


def changed(index: Index, changes: Iterable[Change]) -> Index:
    """Return the index after some changes, in order, as one step; the old one is untouched."""
    draft = _Draft(index)
    for change in changes:
        draft.take(change)
    return draft.finished()


class _Draft:
    """An index in the making: copies what it touches, once."""

    def __init__(self, base: Index) -> None:
        self._base = base
        self._networks = dict(base.networks)
        self._rails_changed = False
        self._partitions = base.partitions
        self._shards = dict(base.shards)
        self._claims = base.claims
        self._fresh_nads: set[str] = set()
        self._touched: set[str] = set()
        self._faults = dict(base.faults)

    def take(self, change: Change) -> None:
        """Add one change."""
        handler = _HANDLERS.get(change.kind)
        if handler is None:
            return
        match change:
            case Put():
                handler.put(self, change.object)
            case Gone():
                handler.gone(self, change.namespace, change.name)
            case Everything():
                kept: set[tuple[str, str]] = set()
                for raw in change.objects:
                    kept.add(_place(raw))
                    handler.put(self, raw)
                for place in [one for one in handler.places(self) if one not in kept]:
                    handler.gone(self, *place)
            case _:
                assert_never(change)

    def finished(self) -> Index:
        """Return the immutable result."""
        for namespace in self._touched:
            if self._shards[namespace] == EMPTY_SHARD:
                del self._shards[namespace]
        governed = self._base.governance
        if self._rails_changed:
            models = [one.model for one in self._networks.values() if one.model]
            governed = governance.of(models, self._attached(models))
        return Index(
            rules=self._base.rules,
            networks=self._networks,
            shards=self._shards,
            partitions=self._partitions,
            governance=governed,
            claims=self._claims,
            faults=self._faults,
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
        self._rails_changed = True
        self._note(names.NETWORK, "", name, problem)

    def drop_network(self, _: str, name: str) -> None:
        self._networks.pop(name, None)
        self._rails_changed = True
        self._note(names.NETWORK, "", name, "")

    def put_policy(self, raw: Mapping[str, Any]) -> None:
        namespace, name = _place(raw)
        if name != names.POLICY_NAME:
            why = f"RDMAPolicy {namespace}/{name}: metadata.name: want {names.POLICY_NAME}"
            self._note(names.POLICY, namespace, name, why)
            return
        shard = self._shards.get(namespace, EMPTY_SHARD)
        policy: Tenancy | None
        try:
            policy, problem = tenancy.compiled(parse(RDMAPolicy, raw)), ""
        except InvalidObject as err:
            policy, problem = shard.tenancy, str(err)
        self._claim(namespace, shard.tenancy, policy)
        self._set(namespace, tenancy=policy, policy_problem=problem)
        self._note(names.POLICY, namespace, name, problem)

    def drop_policy(self, namespace: str, name: str) -> None:
        if name == names.POLICY_NAME:
            self._claim(namespace, self._shards.get(namespace, EMPTY_SHARD).tenancy, None)
            self._set(namespace, tenancy=None, policy_problem="")
        self._note(names.POLICY, namespace, name, "")

    def put_partition(self, raw: Mapping[str, Any]) -> None:
        _, name = _place(raw)
        try:
            self._writable_partitions()[name] = parse(RDMAPartition, raw)
            self._note(names.PARTITION, "", name, "")
        except InvalidObject as err:
            self._note(names.PARTITION, "", name, str(err))

    def drop_partition(self, _: str, name: str) -> None:
        self._writable_partitions().pop(name, None)
        self._note(names.PARTITION, "", name, "")

    def put_nad(self, raw: Mapping[str, Any]) -> None:
        found = nad.read(raw)
        self._nads(found.namespace)[found.name] = found
        self._rails_changed |= self._base.governance.names(found.namespace, found.name)

    def drop_nad(self, namespace: str, name: str) -> None:
        self._nads(namespace).pop(name, None)
        self._rails_changed |= self._base.governance.names(namespace, name)

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
        return [*seen, *self._noted(names.POLICY)]

    def partitions(self) -> list[tuple[str, str]]:
        """Every partition seen, also one that never parsed (it is in the problems)."""
        return [*(("", name) for name in self._partitions), *self._noted(names.PARTITION)]

    def nads(self) -> list[tuple[str, str]]:
        return [(ns, name) for ns, shard in self._shards.items() for name in shard.nads]

    def namespaces(self) -> list[tuple[str, str]]:
        return [("", name) for name, shard in self._shards.items() if shard.labels]

    def _attached(self, models: Iterable[RDMANetwork]) -> Iterator[Attached]:
        """Yield the NADs that rails name, of every namespace where a rail names none."""
        for model in models:
            for rail in model.spec.rails:
                place = rail.network_attachment
                if place is None:
                    continue
                spaces = [place.namespace] if place.namespace else list(self._shards)
                for namespace in spaces:
                    found = self._shards.get(namespace, EMPTY_SHARD).nads.get(place.name)
                    if found is not None and not found.problem:
                        yield Attached(model.metadata.name, found, bool(place.namespace))

    def _noted(self, kind: str) -> list[tuple[str, str]]:
        """Return the places of a kind's objects with a problem."""
        return [(namespace, name) for known, namespace, name in self._faults if known == kind]

    def _nads(self, namespace: str) -> dict[str, Nad]:
        """Return the namespace's NADs for writing: a copy, made once in this draft."""
        shard = self._shards.get(namespace, EMPTY_SHARD)
        if namespace not in self._fresh_nads:
            self._fresh_nads.add(namespace)
            self._set(namespace, nads=dict(shard.nads))
        found = self._shards[namespace].nads
        assert isinstance(found, dict)  # noqa: S101 made just above
        return found

    def _set(self, namespace: str, **fields: Any) -> None:  # noqa: ANN401 any field of Shard
        namespace = intern(namespace)
        self._touched.add(namespace)
        shard = self._shards.get(namespace, EMPTY_SHARD)
        self._shards[namespace] = msgspec.structs.replace(shard, **fields)

    def _claim(self, namespace: str, before: Tenancy | None, after: Tenancy | None) -> None:
        """Move a policy's explicit numbers in the index of claims."""
        if not claims.is_same(before, after):
            claims.move(self._writable_claims(), namespace, before, after)

    def _writable_claims(self) -> MutableClaims:
        """Return the claims for writing: a copy, made once in this draft."""
        if self._claims is self._base.claims or not isinstance(self._claims, dict):
            self._claims = dict(self._claims)
        return self._claims

    def _writable_partitions(self) -> dict[str, RDMAPartition]:
        """Return the partitions for writing: a copy, made once in this draft."""
        if self._partitions is self._base.partitions or not isinstance(self._partitions, dict):
            self._partitions = dict(self._partitions)
        return self._partitions

    def _note(self, kind: str, namespace: str, name: str, problem: str) -> None:
        if problem:
            self._faults[kind, namespace, name] = problem
        else:
            self._faults.pop((kind, namespace, name), None)


def _place(raw: Mapping[str, Any]) -> tuple[str, str]:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


class _Handler(msgspec.Struct, frozen=True):
    """How a draft takes one kind: an object that is there, one that is gone, and all it has."""

    put: Callable[[_Draft, Mapping[str, Any]], None]
    gone: Callable[[_Draft, str, str], None]
    places: Callable[[_Draft], Iterable[tuple[str, str]]]


_HANDLERS: Final[Mapping[str, _Handler]] = {
    names.NETWORK: _Handler(_Draft.put_network, _Draft.drop_network, _Draft.networks),
    names.POLICY: _Handler(_Draft.put_policy, _Draft.drop_policy, _Draft.policies),
    names.PARTITION: _Handler(_Draft.put_partition, _Draft.drop_partition, _Draft.partitions),
    names.NAD: _Handler(_Draft.put_nad, _Draft.drop_nad, _Draft.nads),
    names.NAMESPACE: _Handler(_Draft.put_namespace, _Draft.drop_namespace, _Draft.namespaces),
}
