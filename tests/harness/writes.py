"""Cases of ``/validate``: one YAML a request for an object of ours, run through the core's bytes.

``tests/writes/README.md`` describes the file; a case needs no code, its folder is walked.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from policies.changes import Put
from policies.snapshot import Snapshot
from tests.harness.cluster import RULES
from tests.harness.golden_case import Object, Strict
from webhook.admission.validate import validate

FOLDER = Path(__file__).parents[1] / "writes"
CLUSTERS = FOLDER / "clusters"


class Given(Strict):
    """What is known, and what is asked."""

    model_config = ConfigDict(alias_generator=to_camel)

    cluster: str
    """A file of ``tests/writes/clusters``, without its ending."""
    objects: tuple[Object, ...] = ()
    """Further objects, or others in place of the cluster's."""
    kind: Literal["RDMANetwork", "RDMAPartition", "RDMAPolicy"]
    operation: Literal["CREATE", "UPDATE", "DELETE"] = "CREATE"
    namespace: str = ""
    name: str
    spec: Object | None = None
    """Of the object as it shall be."""
    old_spec: Object | None = None
    """Of the object as it is."""


class Expect(Strict):
    """What is answered; refused where there is a reason."""

    code: int | None = None
    reason: str | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()


class Case(Strict):
    """One case."""

    why: str
    given: Given
    expect: Expect


def discover() -> list[Path]:
    """Return the files of all cases, in order."""
    return sorted(path for path in FOLDER.rglob("*.yaml") if path.parent != CLUSTERS)


def load(path: Path) -> Case:
    """Return the case of a file; a mistake in it is an error that names the key."""
    return Case.model_validate(yaml.safe_load(path.read_text()))


@cache
def cluster(name: str) -> Snapshot:
    """Return what is known of a cluster of ``tests/writes/clusters``."""
    documents = yaml.safe_load_all((CLUSTERS / f"{name}.yaml").read_text())
    return Snapshot.empty(RULES).apply([Put(one["kind"], one) for one in documents])


def review(given: Given) -> bytes:
    """Return the request as the API server sends it."""
    request = {
        "uid": "u-1",
        "kind": {"group": "rdma.io", "version": "v1alpha1", "kind": given.kind},
        "name": given.name,
        "namespace": given.namespace or None,
        "operation": given.operation,
        "object": _object(given, given.spec),
        "oldObject": _object(given, given.old_spec),
    }
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**envelope, "request": request}).encode()


def answered(given: Given) -> Expect:
    """Return what the core answers."""
    snapshot = cluster(given.cluster).apply([Put(one["kind"], one) for one in given.objects])
    response: Any = json.loads(validate(review(given), snapshot).body)["response"]
    status = response.get("status", {})
    assert response["allowed"] == (not status)
    return Expect(
        code=status.get("code"),
        reason=status.get("reason"),
        message=status.get("message", ""),
        warnings=tuple(response.get("warnings", ())),
    )


def _object(given: Given, spec: Object | None) -> Object | None:
    if spec is None:
        return None
    place = {"namespace": given.namespace} if given.namespace else {}
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": given.kind,
        "metadata": {"name": given.name, **place},
        "spec": spec,
    }
