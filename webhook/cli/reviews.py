"""AdmissionReviews as the API server sends them, made of pods as people write them.

Knows how it reads null and numbers where texts and quantities belong, and the two defaults that
decisions depend on; what else it fills in changes nothing here. Whoever shows or tests decisions
offline builds its requests with this.

Source: kubernetes ``pkg/apis/core/v1/defaults.go`` (``SetDefaults_Pod``: requests from limits;
``SetDefaults_PodSpec``: dnsPolicy), apiserver ``request/admissionreview.go``, Go's
``encoding/json`` (null in a map of texts is the empty one; a number is none) and apimachinery
``pkg/api/resource/quantity.go`` (``UnmarshalJSON``: null is 0; a number is read as its text).
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from policies.refusal import cleaned, quoted

LISTS: Final = ("containers", "initContainers")
TEXTS: Final = (("metadata", "annotations"), ("metadata", "labels"), ("spec", "nodeSelector"))
"""Where a pod has maps of texts that decisions look at."""
_LONGEST_KEY: Final = 253
_ENCODER: Final = msgspec.json.Encoder()


def problem(pod: Mapping[str, Any]) -> str:
    """Return why the API server would not take a pod as written; empty where it may.

    Only what the engine's own reading could not name is looked for: a value that is no text in
    annotations, labels and node selector.
    """
    for part, field in TEXTS:
        for key, value in _mapping(_mapping(pod.get(part)).get(field)).items():
            if value is None or isinstance(value, str):
                continue
            where = f"{part}.{field}[{cleaned(str(key), _LONGEST_KEY)}]"
            if isinstance(value, bool | int | float):
                text = json.dumps(value)
                return f"{where}: got {text}, want a text; put the value in quotes: {quoted(text)}"
            return f"{where}: got a {type(value).__name__}, want a text"
    return ""


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
        if isinstance(spec.get("resources"), Mapping):
            made["spec"]["resources"] = _with_quantities(spec["resources"])
        for field in LISTS:
            several = spec.get(field)
            if isinstance(several, list):
                made["spec"][field] = [_with_requests(one) for one in several]
    for part, field in TEXTS:
        texts = _mapping(made.get(part)).get(field)
        if isinstance(texts, Mapping) and None in texts.values():
            filled = {key: "" if text is None else text for key, text in texts.items()}
            made[part] = {**made[part], field: filled}
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
    if not isinstance(container, Mapping) or not isinstance(container.get("resources"), Mapping):
        return container
    resources = _with_quantities(container["resources"])
    limits, requests = _mapping(resources.get("limits")), _mapping(resources.get("requests"))
    missing = {name: amount for name, amount in limits.items() if name not in requests}
    if missing:
        resources["requests"] = {**requests, **missing}
    return {**container, "resources": resources}


def _with_quantities(resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return resources with each amount as the API server reads it."""
    made = dict(resources)
    for side in ("limits", "requests"):
        if isinstance(made.get(side), Mapping):
            made[side] = {name: _quantity(amount) for name, amount in made[side].items()}
    return made


def _quantity(amount: object) -> object:
    """Return an amount as the API server reads it: 1.0 is ``1``, null is ``0``."""
    if amount is None:
        return "0"
    if isinstance(amount, float) and math.isfinite(amount):
        return f"{Decimal(repr(amount)).normalize():f}"
    return amount


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
