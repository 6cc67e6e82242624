"""How events change the index: a new one is made, which shares all that they do not touch.

An event replaces one shard and costs what that holds, however large the cluster is. An event that
changes nothing that decisions can see leaves the index as it is. An object that does not parse
never stops the stream of events.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final, assert_never

import msgspec

from policies import accept, claims, governance, inventory, nad, names, node, tenancy
from policies.changes import Change, Everything, Gone, Put
from policies.errors import InvalidObject
from policies.governance import Attached, Governance, Uses, UsesDraft
from policies.index import EMPTY_SHARD, Index, Network, Shard
from policies.nad import Nad
from policies.network import RDMANetwork
from policies.overlay import Overlay
from policies.parse import parse, texts
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy
from policies.tenancy import Tenancy


def changed(index: Index, changes: Iterable[Change]) -> Index:
    """Return the index after some changes, in order, as one step; the old one is untouched.

    It is the old one itself where nothing that decisions can see is different.
    """
    draft = _Draft(index)
    for change in changes:
        draft.take(change)
    return draft.finished()


class _Draft:
    """An index in the making: copies what it touches, once."""

    def __init__(self, base: Index) -> None:
        self._base = base
        self._networks = Overlay(base.networks)
        self._has_new_rails = False
        self._partitions = Overlay(base.partitions)
        self._shards = Overlay(base.shards)
        self._uses = UsesDraft(base.governance.uses)
        self._claims = Overlay(base.claims)
        self._holders = Overlay(base.holders)
        self._nodes = Overlay(base.nodes)
        self._fresh_nads: dict[str, dict[str, Nad]] = {}
        self._touched: set[str] = set()
        self._faults = Overlay(base.faults)

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
        """Return the immutable result: the very same index where nothing is different."""
        for namespace in self._touched:
            if self._shard(namespace) == EMPTY_SHARD:
                self._shards.drop(namespace)
        made = Index(
            rules=self._base.rules,
            networks=self._networks.finished(),
            shards=self._shards.finished(),
            partitions=self._partitions.finished(),
            governance=self._governance(),
            claims=self._claims.finished(),
            holders=self._holders.finished(),
            nodes=self._nodes.finished(),
            faults=self._faults.finished(),
        )
        is_same = all(
            getattr(made, name) is getattr(self._base, name) for name in Index.__struct_fields__
        )
        return self._base if is_same else made

    def _governance(self) -> Governance:
        """Return what rails use: the very same value where nothing is different."""
        base = self._base.governance
        uses = self._uses.finished()
        if not self._has_new_rails:
            return base if uses is base.uses else msgspec.structs.replace(base, uses=uses)
        models = [one.model for _, one in sorted(self._networks.items()) if one.model]
        found = governance.of(models, self._attached(models), uses)
        if found.sharers.keys() != base.sharers.keys():
            found = msgspec.structs.replace(found, uses=self._recounted(found.sharers))
        return base if found == base else found

    def put_network(self, raw: Mapping[str, Any]) -> None:
        _, name = _place(raw)
        known = self._networks.get(name)
        try:
            model = parse(RDMANetwork, raw)
            why = accept.problem(model.spec, self._base.rules)
            problem = f"RDMANetwork {name}: {why}" if why else ""
            found = Network(name, model, problem, inventory.is_said_missing(raw))
        except InvalidObject as err:
            problem = str(err)
            found = known if known and known.model else Network(name, None, problem)
        if found != known:
            self._networks.put(name, found)
            self._has_new_rails = True
        self._note(names.NETWORK, "", name, problem)

    def drop_network(self, _: str, name: str) -> None:
        self._networks.drop(name)
        self._has_new_rails = True
        self._note(names.NETWORK, "", name, "")

    def put_policy(self, raw: Mapping[str, Any]) -> None:
        namespace, name = _place(raw)
        if name != names.POLICY_NAME:
            why = f"RDMAPolicy {namespace}/{name}: metadata.name: want {names.POLICY_NAME}"
            self._note(names.POLICY, namespace, name, why)
            return
        shard = self._shard(namespace)
        policy: Tenancy | None
        try:
            policy, problem = tenancy.compiled(parse(RDMAPolicy, raw)), ""
        except InvalidObject as err:
            policy, problem = shard.tenancy, str(err)
        claims.move(self._claims, shard.tenancy, policy)
        self._set(namespace, tenancy=policy, policy_problem=problem)
        self._note(names.POLICY, namespace, name, problem)

    def drop_policy(self, namespace: str, name: str) -> None:
        if name == names.POLICY_NAME:
            claims.move(self._claims, self._shard(namespace).tenancy, None)
            self._set(namespace, tenancy=None, policy_problem="")
        self._note(names.POLICY, namespace, name, "")

    def put_partition(self, raw: Mapping[str, Any]) -> None:
        _, name = _place(raw)
        try:
            partition, problem = parse(RDMAPartition, raw), ""
            claims.hand_over(self._holders, self._partitions.get(name), partition)
            self._partitions.put(name, partition)
        except InvalidObject as err:
            problem = str(err)
        self._note(names.PARTITION, "", name, problem)

    def drop_partition(self, _: str, name: str) -> None:
        claims.hand_over(self._holders, self._partitions.get(name), None)
        self._partitions.drop(name)
        self._note(names.PARTITION, "", name, "")

    def put_nad(self, raw: Mapping[str, Any]) -> None:
        found = nad.read(raw)
        self._move_nad(found.namespace, found.name, found)

    def drop_nad(self, namespace: str, name: str) -> None:
        self._move_nad(namespace, name, None)

    def put_namespace(self, raw: Mapping[str, Any]) -> None:
        labels = texts((raw.get("metadata") or {}).get("labels"))
        kept = sorted(key for key in labels if key.startswith(names.NAMESPACE_LABELS))
        self._set(_place(raw)[1], labels=_labels(tuple((key, labels[key]) for key in kept)))

    def drop_namespace(self, _: str, name: str) -> None:
        self._set(name, labels={})

    def put_node(self, raw: Mapping[str, Any]) -> None:
        self._nodes.put(_place(raw)[1], node.read(raw, self._base.rules))

    def drop_node(self, _: str, name: str) -> None:
        self._nodes.drop(name)

    def networks(self) -> list[tuple[str, str]]:
        return [("", name) for name in self._networks]

    def policies(self) -> list[tuple[str, str]]:
        """Every policy seen, also one of a wrong name (it is in the problems)."""
        seen = [(ns, names.POLICY_NAME) for ns, shard in self._shards.items() if shard.tenancy]
        return [*seen, *self._noted(names.POLICY)]

    def partitions(self) -> list[tuple[str, str]]:
        """Every partition seen, also one that never parsed (it is in the problems)."""
        return [
            *(("", name) for name in self._partitions),
            *self._noted(names.PARTITION),
        ]

    def nads(self) -> list[tuple[str, str]]:
        return [(ns, name) for ns, shard in self._shards.items() for name in shard.nads]

    def namespaces(self) -> list[tuple[str, str]]:
        return [("", name) for name, shard in self._shards.items() if shard.labels]

    def nodes(self) -> list[tuple[str, str]]:
        return [("", name) for name in self._nodes]

    def _attached(self, models: Iterable[RDMANetwork]) -> Iterator[Attached]:
        """Yield the readable NADs that rails name with a namespace."""
        for model in models:
            for rail in model.spec.rails:
                place = rail.network_attachment
                if place is not None and place.namespace:
                    found = self._shard(place.namespace).nads.get(place.name)
                    if found is not None and not found.problem:
                        yield Attached(model.metadata.name, found)

    def _recounted(self, shared: Iterable[str]) -> Uses:
        """Return what the NADs of these names use. Walks every shard: only other rails need it."""
        draft = UsesDraft(Uses())
        for shard in self._shards.values():
            for name in shared:
                draft.count(shard.nads.get(name), 1)
        return draft.finished()

    def _noted(self, kind: str) -> list[tuple[str, str]]:
        """Return the places of a kind's objects with a problem."""
        return [
            (namespace, name)
            for (known, namespace, name), _ in self._faults.items()
            if known == kind
        ]

    def _move_nad(self, namespace: str, name: str, after: Nad | None) -> None:
        """Replace a NAD in its shard and in what follows from it."""
        before = self._shard(namespace).nads.get(name)
        if after == before:
            return
        nads = self._writable_nads(namespace)
        if after is None:
            del nads[name]
        else:
            nads[name] = after
        if name in self._base.governance.sharers:
            self._uses.count(before, -1)
            self._uses.count(after, 1)
        self._has_new_rails |= (namespace, name) in self._base.governance.attachments

    def _shard(self, namespace: str) -> Shard:
        return self._shards.get(namespace) or EMPTY_SHARD

    def _writable_nads(self, namespace: str) -> dict[str, Nad]:
        """Return the namespace's NADs for writing: a copy, made once in this draft."""
        found = self._fresh_nads.get(namespace)
        if found is None:
            found = self._fresh_nads[namespace] = dict(self._shard(namespace).nads)
            self._set(namespace, nads=found)
        return found

    def _set(self, namespace: str, **fields: Any) -> None:  # noqa: ANN401 any field of Shard
        namespace = intern(namespace)
        self._touched.add(namespace)
        self._shards.put(namespace, msgspec.structs.replace(self._shard(namespace), **fields))

    def _note(self, kind: str, namespace: str, name: str, problem: str) -> None:
        if problem:
            self._faults.put((kind, namespace, name), problem)
        else:
            self._faults.drop((kind, namespace, name))


@lru_cache(maxsize=1024)
def _labels(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return a map that all namespaces of equal labels share."""
    return dict(pairs)


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
    names.NODE: _Handler(_Draft.put_node, _Draft.drop_node, _Draft.nodes),
}
