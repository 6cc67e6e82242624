"""What is checked of every golden case: its expectation, and what no patch may ever break.

The patch is applied by an independent library, the result held against the API's strict schema,
and the pod sent again, as it is and as the API server would fill it in: nothing may follow.
"""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import jsonpatch
from jsonpointer import JsonPointerException

from tests.harness import golden
from tests.harness.golden_case import Case, Object, Outcome
from tests.harness.pod_defaults import defaulted
from tests.harness.pod_schema import schema_errors

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
_PARENT = re.compile(
    r"/metadata(/annotations)?"
    rf"|{_CONTAINER}/(resources(/(limits|requests))?|securityContext(/capabilities)?)"
)
"""Objects that are made where they are missing: what stands in them is looked at one by one."""
_ENV_ITEM = re.compile(rf"{_CONTAINER}/env/\d+")


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
        yield from broken(case, pod, found)


def _unexpected(case: Case, found: Outcome) -> Iterator[str]:
    """Yield where the answer is not what the case expects."""
    for field in ("verdict", "waits", "code", "reason", "warnings", "patch"):
        got, want = getattr(found, field), getattr(case.expect, field)
        if got != want:
            yield f"{field}: got {got!r}, want {want!r} ({found.message})"
    for text in case.expect.message_has:
        if text not in found.message:
            yield f"message: got {found.message!r}, want {text!r} in it"
    for text in found.warnings:
        if len(text) > 120 or not text.isprintable():
            yield f"warning {text!r} is too long, or holds what cannot be printed"


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


def broken(case: Case, pod: Object, found: Outcome) -> Iterator[str]:
    """Yield what a patch does that no patch may do."""
    try:
        patched = _applied(pod, found.patch)
    except (jsonpatch.JsonPatchException, JsonPointerException) as err:
        yield f"the patch does not apply: {err!r}"
        return
    yield from _bad_ops(pod, found)
    replaced = {op["path"] for op in found.patch if op["op"] == "replace"}
    yield from _lost(pod, patched, "", replaced)
    yield from _unclaimed(case, patched)
    known = set(schema_errors(pod))
    if known and not case.given.unknown_fields:
        yield f"the given pod is none: {sorted(known)}"
    if case.given.unknown_fields and not known:
        yield "given.unknown_fields is set, but the pod has none"
    yield from sorted(set(schema_errors(patched)) - known)
    for title, again in (("patched", patched), ("patched and defaulted", defaulted(patched))):
        second = golden.outcome_of(golden.ask(case, again, golden.snapshot_of(case))[0])
        if second.verdict != "Unchanged":
            yield f"the {title} pod is not left alone: {second!r}"
    first = golden.outcome_of(golden.ask(case, defaulted(pod), golden.snapshot_of(case))[0])
    if (first.verdict, first.warnings) != (found.verdict, found.warnings):
        yield f"the defaulted pod is judged otherwise: {first!r}"


def _applied(pod: Object, ops: Iterable[Object]) -> Object:
    """Return a pod with operations applied by python-json-patch, which is none of ours."""
    patch: Any = list(ops)
    found: Any = jsonpatch.JsonPatch(patch).apply(pod)
    return dict(found)


def _bad_ops(pod: Object, found: Outcome) -> Iterator[str]:
    """Yield operations that are not allowed, or that replace what is not there."""
    current: Any = pod
    for op in found.patch:
        if op["op"] not in {"add", "replace"} or set(op) != {"op", "path", "value"}:
            yield f"op {op} is none of ours"
        elif not all(map(ALLOWED.fullmatch, _places(op["path"], op["value"]))):
            yield f"op {op} touches what is not ours"
        elif (op["op"] == "replace") != (_found(current, op["path"]) is not None):
            yield f"op {op}: the value to replace is absent, or the one to add is there"
        current = _applied(current, [op])


def _places(path: str, value: Any) -> Iterator[str]:  # noqa: ANN401 JSON is anything
    """Yield the places that an operation writes."""
    if not (isinstance(value, dict) and _PARENT.fullmatch(path)):
        yield path
        return
    for key, inner in value.items():
        yield from _places(_below(path, key), inner)


def _below(path: str, key: str) -> str:
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"


def _found(document: Any, pointer: str) -> Any:  # noqa: ANN401 JSON is anything
    """Return what a JSON pointer points at, None where there is nothing."""
    try:
        return value_at(document, pointer)
    except (KeyError, IndexError, ValueError, TypeError):
        return None


def value_at(document: Any, pointer: str) -> Any:  # noqa: ANN401
    """Return what a JSON pointer points at; KeyError or IndexError where nothing is."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def _lost(before: Any, after: Any, path: str, replaced: set[str]) -> Iterator[str]:  # noqa: ANN401
    """Yield what the author wrote and the patch has taken away, moved or changed.

    A single value may be replaced, and the value of a variable; a list or an object never.
    """
    if before is None or (path in replaced and not isinstance(before, dict | list)):
        return
    if path in replaced and _ENV_ITEM.fullmatch(path) and before["name"] == after["name"]:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            inner = _below(path, key)
            if key not in after:
                yield f"{inner} is gone"
            else:
                yield from _lost(value, after[key], inner, replaced)
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for index, value in enumerate(before):
            yield from _lost(value, after[index], f"{path}/{index}", replaced)
    elif before != after:
        yield f"{path} was {before!r} and is {after!r}"


def _unclaimed(case: Case, patched: Object) -> Iterator[str]:
    """Yield claims of the case that do not hold on the resulting pod."""
    for claim in case.expect.also:
        got = _found(patched, claim.path)
        if got != (None if claim.absent else claim.equals):
            want = "nothing" if claim.absent else repr(claim.equals)
            yield f"also: {claim.path}: got {got!r}, want {want}"
