"""AdmissionReviews as the API server sends them, made of pods as people write them.

Knows the two defaults that decisions depend on; what else the API server fills in changes nothing
here. Whoever shows or tests decisions offline builds its requests with this.

Source: kubernetes ``pkg/apis/core/v1/defaults.go`` (``SetDefaults_Pod``: requests from limits;
``SetDefaults_PodSpec``: dnsPolicy) and apiserver ``request/admissionreview.go``.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

LISTS: Final = ("containers", "initContainers")
_ENCODER: Final = msgspec.json.Encoder()


def defaulted(pod: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """Return a copy of a pod as the API server hands it to admission.

    Args:
        pod: As written. What has another shape than a pod's is left as it is.
        namespace: The request's; becomes the object's own, as it does for a created pod.
    """
    metadata, spec = pod.get("metadata"), pod.get("spec")
    made: dict[str, Any] = {**pod, "apiVersion": "v1", "kind": "Pod"}
    if isinstance(metadata, Mapping):
        made["metadata"] = {**metadata, "namespace": namespace}
    if isinstance(spec, Mapping):
        made["spec"] = {**spec, "dnsPolicy": spec.get("dnsPolicy") or "ClusterFirst"}
        for field in LISTS:
            several = spec.get(field)
            if isinstance(several, list):
                made["spec"][field] = [_with_requests(one) for one in several]
    return made


def review(pod: Mapping[str, Any], namespace: str, uid: str, *, dry_run: bool = False) -> bytes:
    """Return the AdmissionReview of a pod that is being created.

    Args:
        pod: As `defaulted` returns it.
        namespace: The request's.
        uid: Of the request.
        dry_run: Whether nothing will be stored.
    """
    metadata = pod.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    resource = {"group": "", "version": "v1", "resource": "pods"}
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    request = {
        "uid": uid,
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        **({"name": name} if name else {}),
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:kube-system:job-controller",
            "uid": "00000000-0000-0000-0000-000000000001",
            "groups": ["system:serviceaccounts", "system:authenticated"],
        },
        "object": pod,
        "oldObject": None,
        "dryRun": dry_run,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return _ENCODER.encode(
        {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    )


def _with_requests(container: Any) -> Any:  # noqa: ANN401 whatever the file holds
    """Return a container whose requests hold its limits where it names no other amount."""
    if not isinstance(container, Mapping):
        return container
    resources = container.get("resources")
    limits = resources.get("limits") if isinstance(resources, Mapping) else None
    if not isinstance(resources, Mapping) or not isinstance(limits, Mapping) or not limits:
        return container
    requests = resources.get("requests")
    own = requests if isinstance(requests, Mapping) else {}
    missing = {name: amount for name, amount in limits.items() if name not in own}
    if not missing:
        return container
    return {**container, "resources": {**resources, "requests": {**own, **missing}}}
