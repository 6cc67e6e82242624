"""What is checked of every golden case: its expectation, and what no patch may ever break.

The patch is applied by an independent library, the result held against the strict schema of the
API, and the pod sent again, as it is and as the API server would fill it in: nothing may follow.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from typing import Any

import jsonpatch
from jsonschema import Draft202012Validator
from kubernetes_validate import utils as kubernetes_schemas
from referencing import Registry, Resource

from tests.harness import golden
from tests.harness.golden import Case, Object, Outcome
from tests.harness.pod_defaults import defaulted

KUBERNETES = "1.37"
_CONTAINER = r"/spec/(containers|initContainers)/\d+"
ALLOWED = re.compile(
    r"/metadata|/metadata/annotations"
    r"|/metadata/annotations/(k8s\.v1\.cni\.cncf\.io~1networks|rdma\.io~1(status|nccl-conf))"
    r"|/spec/(hostNetwork|dnsPolicy|nodeSelector|nodeSelector/[^/]+|tolerations|tolerations/-)"
    r"|/spec/volumes(/-)?"
    rf"|{_CONTAINER}/(env|volumeMounts)(/-)?"
    rf"|{_CONTAINER}/env/\d+"
    rf"|{_CONTAINER}/resources(/(limits|requests)(/([^/]+~1[^/]+|hugepages-[^/]+))?)?"
    rf"|{_CONTAINER}/securityContext(/capabilities(/(add|drop)(/-)?)?)?"
)
"""Every place that the webhook may ever write to."""
_CHANGING = re.compile(
    r"/metadata/annotations/.*|/spec/(hostNetwork|dnsPolicy)"
    rf"|{_CONTAINER}/env/\d+/.*|{_CONTAINER}/resources/(limits|requests)/.*"
)
"""Where a value that the author wrote may be replaced by another."""


def check(case: Case) -> list[str]:
    """Return what is wrong with a case, one sentence each; empty where all of it holds."""
    return list(_problems(case))


def _problems(case: Case) -> Iterator[str]:
    pod = golden.pod_of(case)
    snapshot = golden.snapshot_of(case)
    before = deepcopy(pod)
    body, waits = golden.ask(case, pod, snapshot)
    found = golden.outcome_of(body, waits)
    yield from _unexpected(case, found)
    if golden.ask(case, pod, snapshot)[0] != body:
        yield "a second run gives other bytes"
    if golden.ask(case, pod, golden.snapshot_of(case))[0] != body:
        yield "a fresh snapshot gives other bytes"
    if pod != before:
        yield "the engine changed its input"
    yield from _moved(case, pod, body)
    if found.patch:
        yield from _broken(case, pod, found)


def _unexpected(case: Case, found: Outcome) -> Iterator[str]:
    """Yield where the answer is not what the case expects."""
    wanted = case.expect
    for field in ("verdict", "waits", "code", "reason", "warnings", "patch"):
        got, want = getattr(found, field), getattr(wanted, field)
        if got != want:
            yield f"{field}: got {got!r}, want {want!r} ({found.message})"
    for text in wanted.message_has:
        if text not in found.message:
            yield f"message: got {found.message!r}, want {text!r} in it"
    for text in found.warnings:
        if len(text) > 120 or not text.isprintable() or "…" in text:
            yield f"warning {text!r} is cut, or holds what cannot be printed"


def _moved(case: Case, pod: Object, body: bytes) -> Iterator[str]:
    """Yield where the object's own namespace, which may be forged, changes the answer."""
    request = case.given.request
    namespace = request.namespace or (pod.get("metadata") or {}).get("namespace") or "team-a"
    fixed = request.model_copy(update={"namespace": namespace})
    same = case.model_copy(update={"given": case.given.model_copy(update={"request": fixed})})
    for forged in ("kube-system", "team-b", None):
        other = deepcopy(pod)
        if other.get("metadata") is None:
            continue
        other["metadata"]["namespace"] = forged
        if golden.ask(same, other, golden.snapshot_of(case))[0] != body:
            yield f"metadata.namespace {forged} changes the answer"


def _broken(case: Case, pod: Object, found: Outcome) -> Iterator[str]:
    """Yield what the patch does that no patch may do."""
    try:
        patched = jsonpatch.JsonPatch(list(found.patch)).apply(pod)
    except jsonpatch.JsonPatchException as err:
        yield f"the patch does not apply: {err!r}"
        return
    yield from _bad_ops(pod, found)
    yield from _lost(pod, patched, "")
    yield from _unclaimed(case, patched)
    known = set(_schema_errors(pod))
    if known and not case.given.unknown_fields:
        yield f"the given pod is none: {sorted(known)}"
    if case.given.unknown_fields and not known:
        yield "given.unknown_fields is set, but the pod has none"
    yield from sorted(set(_schema_errors(patched)) - known)
    for title, again in (("patched", patched), ("patched and defaulted", defaulted(patched))):
        second = golden.outcome_of(golden.ask(case, again, golden.snapshot_of(case))[0])
        if second.verdict != "Unchanged":
            yield f"the {title} pod is not left alone: {second!r}"
    first = golden.outcome_of(golden.ask(case, defaulted(pod), golden.snapshot_of(case))[0])
    if (first.verdict, first.warnings) != (found.verdict, found.warnings):
        yield f"the defaulted pod is judged otherwise: {first!r}"


def _bad_ops(pod: Object, found: Outcome) -> Iterator[str]:
    """Yield operations that are not allowed, or that replace what is not there."""
    current: Any = pod
    for op in found.patch:
        if op["op"] not in {"add", "replace"} or set(op) != {"op", "path", "value"}:
            yield f"op {op} is none of ours"
        elif not ALLOWED.fullmatch(op["path"]):
            yield f"op {op} touches what is not ours"
        elif (op["op"] == "replace") != _exists(current, op["path"]):
            there = "is there" if op["op"] == "add" else "is not there"
            if op["op"] == "replace" or value_at(current, op["path"]) is not None:
                yield f"op {op}: its value {there} already"
        current = jsonpatch.JsonPatch([op]).apply(current)


def _exists(document: Any, pointer: str) -> bool:  # noqa: ANN401 JSON is anything
    try:
        value_at(document, pointer)
    except (KeyError, IndexError, ValueError, TypeError):
        return False
    return True


def value_at(document: Any, pointer: str) -> Any:  # noqa: ANN401
    """Return what a JSON pointer points at; KeyError or IndexError where nothing is."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def _lost(before: Any, after: Any, path: str) -> Iterator[str]:  # noqa: ANN401
    """Yield what the author wrote and the patch has taken away, moved or changed."""
    if before is None or (_CHANGING.fullmatch(path) and after is not None):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            inner = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in after:
                yield f"{inner} is gone"
            else:
                yield from _lost(value, after[key], inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for index, value in enumerate(before):
            yield from _lost(value, after[index], f"{path}/{index}")
    elif before != after:
        yield f"{path} was {before!r} and is {after!r}"


def _unclaimed(case: Case, patched: Object) -> Iterator[str]:
    """Yield claims of the case that do not hold on the resulting pod."""
    for claim in case.expect.also:
        there = _exists(patched, claim.path)
        if claim.absent:
            if there:
                yield f"also: {claim.path} is there"
        elif not there or value_at(patched, claim.path) != claim.equals:
            got = value_at(patched, claim.path) if there else "nothing"
            yield f"also: {claim.path}: got {got!r}, want {claim.equals!r}"


def _schema_errors(pod: Object) -> Iterator[str]:
    """Yield where a pod is not what the API's strict schema says."""
    for error in _validator().iter_errors(pod):
        yield f"schema: {error.json_path}: {error.message}"


@lru_cache(maxsize=1)
def _validator() -> Draft202012Validator:
    folder = f"kubernetes-json-schema/v{KUBERNETES}.0-local-strict"
    schema, definitions = (
        kubernetes_schemas.schema_contents(f"{folder}/{name}.json", KUBERNETES)
        for name in ("pod-v1", "_definitions")
    )
    registry = Resource.from_contents(definitions) @ Registry()
    return Draft202012Validator(schema, registry=Resource.from_contents(schema) @ registry)
