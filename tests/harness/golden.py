"""Golden cases: one YAML a case, ``given`` to ``expect``, run through the engine's bytes.

A case needs no code: its folder is walked, its name is the sentence of the file's name. What is
checked of each case beside its own expectation is in `tests.harness.golden_checks`; the file format
is described in ``tests/golden/README.md``.
"""

import json
import sys
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic.alias_generators import to_snake

from policies.changes import Put
from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.harness.golden_case import Case, Object, Outcome
from webhook.admission.answer import Answer, Waiting
from webhook.admission.handle import handle

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
CLUSTERS = GOLDEN / "clusters"


def discover(folder: Path = GOLDEN) -> list[Path]:
    """Return the files of all cases below a folder, in order."""
    return sorted(
        path for path in folder.rglob("*.yaml") if "clusters" not in path.relative_to(folder).parts
    )


def load(path: Path) -> Case:
    """Return the case of a file; a mistake in it is an error that names the key."""
    return Case.model_validate(_loaded(path.read_text()))


def _loaded(text: str) -> Any:  # noqa: ANN401 YAML is anything
    return yaml.load(text, yaml.CSafeLoader)


def pod_of(case: Case) -> Object:
    """Return the pod that is sent, with its kind; metadata and spec are as they are written."""
    found = case.given.pod
    if case.given.pod_from is not None:
        text = (ROOT / case.given.pod_from.file).read_text()
        document: Any = next(one for one in yaml.load_all(text, yaml.CSafeLoader) if one)
        for part in case.given.pod_from.at.split("/")[1:]:
            document = document[part]
        found = document
    assert found is not None, "a case gives pod or pod_from"
    return {"apiVersion": "v1", "kind": "Pod", **found}


def snapshot_of(case: Case) -> Snapshot:
    """Return what the webhook knows: the cluster, with the case's own objects over it."""
    cluster = dict(_cluster(case.given.cluster)) if case.given.cluster else {}
    rules = dict(cluster.pop("rules", {})) | case.given.rules
    found: dict[str, Object] = dict(cluster)
    found |= {key_of(one): one for one in case.given.objects}
    for key, change in case.given.merge.items():
        assert key in found, f"merge: there is no {key}"
        if change is None:
            del found[key]
        else:
            found[key] = _merged(found[key], change)
    values: Object = {to_snake(k): tuple(v) if isinstance(v, list) else v for k, v in rules.items()}
    empty = Snapshot.empty(Rules(**{"version": "0.1.0", **values}))
    return empty.apply([Put(one["kind"], one) for one in found.values()])


def key_of(one: Mapping[str, Any]) -> str:
    """Return ``Kind/namespace/name``, or ``Kind/name`` of a cluster-scoped object."""
    metadata = one["metadata"]
    return "/".join(
        part for part in (one["kind"], metadata.get("namespace"), metadata["name"]) if part
    )


@lru_cache(maxsize=64)
def _cluster(name: str) -> Mapping[str, Any]:
    """Return a cluster's objects by key, and its ``rules``."""
    content = _loaded((CLUSTERS / f"{name}.yaml").read_text())
    assert content.keys() <= {"why", "rules", "include", "objects"}, f"clusters/{name}: unknown key"
    return {
        "rules": content.get("rules", {}),
        **{key_of(one): one for one in _included(content.get("include", ()))},
        **{key_of(one): one for one in content.get("objects", ())},
    }


def _included(patterns: list[str]) -> Iterator[Object]:
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield from (one for one in yaml.load_all(path.read_text(), yaml.CSafeLoader) if one)


def _merged(old: Any, change: Any) -> Any:  # noqa: ANN401 JSON is anything
    """Return a JSON merge patch applied (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    found = dict(old) if isinstance(old, dict) else {}
    for key, value in change.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), value)
    return found


def review_of(case: Case, pod: Object) -> bytes:
    """Return the AdmissionReview that the API server would send for a pod."""
    given = case.given.request
    metadata = pod.get("metadata") or {}
    request = {
        "uid": "5f2cb1b0-0000-4000-8000-000000000001",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "name": metadata.get("name") or "",
        "namespace": given.namespace or metadata.get("namespace") or "team-a",
        "operation": given.operation,
        "userInfo": given.user_info,
        "object": pod,
        "oldObject": given.old_object,
        "dryRun": given.dry_run,
    }
    if given.sub_resource:
        request["subResource"] = given.sub_resource
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return json.dumps(review).encode()


def ask(case: Case, pod: Object, snapshot: Snapshot) -> tuple[bytes, str | None]:
    """Return the engine's answer about a pod, and what it would wait for first."""
    found = handle(review_of(case, pod), snapshot)
    match found:
        case Answer():
            return found.body, None
        case Waiting():
            parts = (found.kind, found.namespace, found.name)
            return found.answer.body, "/".join(part for part in parts if part)


def outcome_of(body: bytes, waits: str | None = None) -> Outcome:
    """Return what an answer says."""
    response = json.loads(body)["response"]
    status = response.get("status") or {}
    patch = json.loads(b64decode(response["patch"])) if "patch" in response else []
    allowed = "Patched" if patch else "Unchanged"
    return Outcome(
        verdict=allowed if response["allowed"] else "Denied",
        waits=waits,
        code=status.get("code"),
        reason=status.get("reason"),
        message=status.get("message", ""),
        warnings=tuple(response.get("warnings", ())),
        patch=tuple(patch),
    )


if __name__ == "__main__":
    from tests.harness.golden_rewrite import main

    main([one for one in sys.argv[1:] if one != "--rewrite"])
