"""What decisions are made from: the folder's objects with the files' on top, as one snapshot.

Knows where an object without namespace goes, as kubectl does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies import names
from policies.changes import Put
from policies.crosschecks import CHECKS, CREATE, UPDATE, Write
from policies.rules import Rules
from policies.snapshot import Snapshot
from webhook.apiserver.kinds import BY_NAME, Kind
from webhook.cli.preview.sources import Given
from webhook.pods.templates import group_and_kind
from webhook.watch.files import Folder, unknown_in

READ_KINDS = {**BY_NAME, names.NODE: Kind(names.NODE, "v1")}
"""Kinds that are read from the files; a cluster's nodes are known from files alone."""
CHECKED_KINDS = frozenset(kind for kind, _ in CHECKS)
"""Kinds that are held against each other as they are written."""


@dataclass(frozen=True, slots=True)
class World:
    """Everything known.

    Attributes:
        snapshot: What the engine reads.
        has_folder: Whether a folder says what the cluster holds, so that what is missing from it
            is missing there too.
        namespaces: Names of the namespaces whose labels are known.
        quotas: ``(namespace, network)`` to the quota that the policy writes, a rail.
        workloads: Objects that are none of ours, to be previewed.
        problems: Objects and files that cannot be used, one sentence each.
        writes: Objects of ours in the files, as who applies them would write them.
    """

    snapshot: Snapshot
    has_folder: bool
    namespaces: frozenset[str]
    quotas: Mapping[tuple[str, str], int]
    workloads: tuple[Given, ...]
    problems: tuple[str, ...]
    writes: tuple[Write, ...] = ()


def build(given: Iterable[Given], folder: Path | None, namespace: str, rules: Rules) -> World:
    """Return what is known once every document of the files is applied.

    Args:
        given: The files' objects; the last one of a name counts.
        folder: Holds what the cluster holds already; None where nothing is known of it.
        namespace: For objects that name none.
        rules: Settings of the core.
    """
    problems: list[str] = []
    puts: list[Put] = []
    writes: list[Write] = []
    if folder is not None:
        held = Folder(folder)
        held.look()
        puts += [Put(kind, one) for kind, found in held.objects().items() for one in found]
        problems += held.problems()
    before = {_place(put): put.object for put in puts}
    workloads: list[Given] = []
    for one in given:
        kind = READ_KINDS.get(str(one.object.get("kind")))
        if kind is None or group_and_kind(one.object)[0] != _group(kind):
            workloads.append(one)
        elif one.object.get("apiVersion") != kind.api_version:
            problems.append(_wrong_version(one, kind))
        else:
            put = Put(kind.name, _placed(one.object, kind, namespace))
            problems += [f"{one.origin}: {text}" for text in unknown_in(kind.name, put.object)]
            puts.append(put)
            if kind.name in CHECKED_KINDS:
                writes.append(_write(put, before.get(_place(put))))
    snapshot = Snapshot.empty(rules).apply(puts)
    return World(
        snapshot=snapshot,
        has_folder=folder is not None,
        namespaces=frozenset(_name(put.object) for put in puts if put.kind == names.NAMESPACE),
        quotas=_quotas(puts),
        workloads=tuple(workloads),
        writes=tuple(writes),
        problems=(*problems, *snapshot.problems),
    )


def namespace_of(found: Mapping[str, Any], otherwise: str) -> str:
    """Return the namespace that an object is created in."""
    metadata = found.get("metadata")
    own = metadata.get("namespace") if isinstance(metadata, Mapping) else None
    return own if isinstance(own, str) and own else otherwise


def _place(put: Put) -> tuple[str, str, str]:
    return put.kind, namespace_of(put.object, ""), _name(put.object)


def _write(put: Put, old: Mapping[str, Any] | None) -> Write:
    """Return the request that applies an object of ours."""
    kind, namespace, name = _place(put)
    return Write(
        kind=kind,
        operation=UPDATE if old is not None else CREATE,
        name=name,
        namespace=namespace if BY_NAME[kind].is_namespaced else "",
        object=put.object,
        old=old,
    )


def _group(kind: Kind) -> str:
    return kind.api_version.rpartition("/")[0]


def _wrong_version(one: Given, kind: Kind) -> str:
    return (
        f"{one.origin}: {kind.name} {_name(one.object)}: apiVersion: got "
        f"{one.object.get('apiVersion')}, want {kind.api_version}"
    )


def _placed(found: Mapping[str, Any], kind: Kind, namespace: str) -> Mapping[str, Any]:
    if not kind.is_namespaced:
        return found
    metadata = {**found["metadata"], "namespace": namespace_of(found, namespace)}
    return {**found, "metadata": metadata}


def _name(found: Mapping[str, Any]) -> str:
    return str((found.get("metadata") or {}).get("name") or "")


def _quotas(puts: Iterable[Put]) -> dict[tuple[str, str], int]:
    """Return the quotas as written; what is malformed is reported by the snapshot."""
    found: dict[tuple[str, str], int] = {}
    for put in puts:
        spec = put.object.get("spec")
        entries = spec.get("networks") if isinstance(spec, Mapping) else None
        if put.kind != names.POLICY or not isinstance(entries, list):
            continue
        for entry in entries:
            quota = entry.get("quota") if isinstance(entry, Mapping) else None
            if isinstance(quota, int) and not isinstance(quota, bool):
                namespace = namespace_of(put.object, "")
                found[namespace, str(entry.get("name"))] = quota
    return found
