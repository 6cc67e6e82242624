"""Pods and AdmissionReviews for tests, and what the engine says about them."""

import json
from collections.abc import Mapping
from typing import Any

from policies.memo import decided
from policies.snapshot import Snapshot
from policies.subject import Subject
from tests.harness.golden import outcome_of
from tests.harness.golden_case import Outcome
from webhook.admission.answer import Waiting
from webhook.admission.describe import describe
from webhook.admission.handle import handle
from webhook.admission.review import decode
from webhook.isolation import Case
from webhook.pods.pod import Pod

Object = dict[str, Any]
UID = "5f2cb1b0-0000-4000-8000-000000000001"


def container(name: str = "main", **fields: Any) -> Object:  # noqa: ANN401 JSON is anything
    """Return a container of a pod manifest."""
    return {"name": name, "image": "registry.example/train:1", **fields}


def asking(name: str = "main", **resources: str) -> Object:
    """Return a container that asks for resources: ``rdma__hca="1"`` is ``rdma/hca: "1"``."""
    limits = {key.replace("__", "/"): value for key, value in resources.items()}
    return container(name, resources={"limits": limits, "requests": dict(limits)})


def pod(
    network: str | None = None,
    *containers: Object,
    annotations: Mapping[str, Any] | None = None,
    **spec: Any,  # noqa: ANN401 any field of the pod's spec
) -> Object:
    """Return a pod manifest that asks for a network; one container where none is given."""
    wanted = {"rdma.io/network": network} if network is not None else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train-0", "annotations": {**wanted, **(annotations or {})}},
        "spec": {"containers": list(containers) or [container()], **spec},
    }


def review(pod: Any, namespace: str | None = "team-a", **request: Any) -> bytes:  # noqa: ANN401
    """Return the AdmissionReview of a pod that is being created.

    Args:
        pod: The object under review.
        namespace: Of the request.
        request: Further fields of the request, or others in place of the usual ones.
    """
    usual = {
        "uid": UID,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": namespace,
        "object": pod,
    }
    whole = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {**usual, **request},
    }
    return json.dumps(whole).encode()


def read(pod: Any) -> Pod:  # noqa: ANN401 JSON is anything
    """Return a pod manifest as the engine decodes it."""
    found = decode(review(pod)).object
    assert found is not None
    return found


def ask(pod: Any, snapshot: Snapshot, **request: Any) -> Outcome:  # noqa: ANN401 JSON is anything
    """Return what the engine says about a pod, the fact that it waits for among it."""
    found = handle(review(pod, **request), snapshot)
    if isinstance(found, Waiting):
        place = "/".join(part for part in (found.kind, found.namespace, found.name) if part)
        return outcome_of(found.answer.body, place)
    return outcome_of(found.body)


def case(pod: Any, snapshot: Snapshot, namespace: str = "team-a") -> Case:  # noqa: ANN401
    """Return a pod of a namespace as the checks of isolation see it; it must be admitted so far."""
    found = read(pod)
    subject = describe(found, namespace, snapshot.rules)
    assert isinstance(subject, Subject), subject
    outcome = decided(subject, snapshot)
    assert isinstance(outcome, tuple), outcome
    return Case(found, *outcome, snapshot)
