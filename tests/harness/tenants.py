"""Tenants of a test's own, made after the shipped example tenant, and pods as their users write.

Numbers of VLANs and PKeys are never given out twice in a run: two tenants of one number are a
conflict, also while the namespace of the first is still being deleted.
"""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.harness.api import JSON
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.webhook import EXAMPLES, documents

NETWORKS = "k8s.v1.cni.cncf.io/networks"
NETWORK = "rdma.io/network"
STATUS = "rdma.io/status"
RENDERED = "rdma.io/rendered"
TEMPLATE = "team-a"
TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the name of a volume
NODE_TAINTS = "node.kubernetes.io/"

_numbers = itertools.count(221)
"""Inside the ranges of all example networks: VLANs 200 to 299, PKeys 0x0010 to 0x01ff."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """One namespace with a policy and attachments.

    Attributes:
        namespace: Its name.
        user: Who may edit there, and nowhere else with more rights.
        number: VLAN or PKey of its partition ``main``.
    """

    namespace: str
    user: str
    number: int


def next_number() -> int:
    """Return a VLAN and PKey that no tenant has had in this run."""
    return next(_numbers)


def policy(namespace: str, grants: Sequence[Mapping[str, Any]], **spec: object) -> Document:
    """Return the RDMAPolicy of a namespace, at Enforce unless said otherwise."""
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPolicy",
        "metadata": {"name": "default", "namespace": namespace},
        "spec": {"enforcement": "Enforce", "networks": list(grants), **spec},
    }


def grant(network: str, number: int, **more: object) -> Document:
    """Return a policy's entry for a network with one partition."""
    return {"name": network, "partitions": [{"name": "main", "number": number}], **more}


def attachments(namespace: str, network: str, number: int) -> list[Document]:
    """Return the NADs of an example network for another namespace and number.

    They are those of team-a, with what depends on namespace and number replaced.
    """
    return [
        _moved(nad, namespace, number)
        for nad in documents(EXAMPLES / "attachments" / f"{TEMPLATE}.yaml")
        if nad["metadata"]["labels"][RENDERED] == network
    ]


def config(nad: Mapping[str, Any]) -> Document:
    """Return the CNI configuration of a NAD."""
    parsed: Document = json.loads(nad["spec"]["config"])
    return parsed


def with_config(nad: Document, changed: Mapping[str, Any]) -> Document:
    """Return a NAD with another CNI configuration."""
    return {**nad, "spec": {"config": json.dumps(changed)}}


def create(cluster: ControlPlane, *objects: Document) -> None:
    """Create objects of our kinds, or NADs, as admin."""
    plurals = {
        "RDMAPolicy": "rdmapolicies",
        "NetworkAttachmentDefinition": "network-attachment-definitions",
    }
    for one in objects:
        namespace = one["metadata"]["namespace"]
        path = f"/apis/{one['apiVersion']}/namespaces/{namespace}/{plurals[one['kind']]}"
        cluster.request("POST", path, one)


def policy_path(namespace: str) -> str:
    """Return where the API server keeps the policy of a namespace."""
    return f"/apis/rdma.io/v1alpha1/namespaces/{namespace}/rdmapolicies/default"


def pod(
    name: str,
    annotations: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    **spec: object,
) -> Document:
    """Return a pod with one container ``main``, unless ``containers`` says others."""
    container = {"name": "main", "image": "example", "resources": {"limits": dict(limits or {})}}
    metadata: Document = {"name": name}
    if annotations is not None:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **spec},
    }


def post(
    cluster: ControlPlane,
    namespace: str,
    body: Mapping[str, Any],
    *,
    user: str,
    dry_run: bool = False,
    content_type: str = JSON,
) -> tuple[int, Any]:
    """Return status code and answer of creating a pod."""
    query = "?dryRun=All" if dry_run else ""
    path = f"/api/v1/namespaces/{namespace}/pods{query}"
    return cluster.api("POST", path, body, user=user, content_type=content_type)


def essential(found: Mapping[str, Any]) -> Document:
    """Return what the webhook cares about of a stored pod, without what the API server adds.

    Keys that would hold nothing are left out.
    """
    spec = found["spec"]
    annotations = found["metadata"].get("annotations", {})
    whole = {
        "selections": json.loads(annotations.get(NETWORKS, "[]")),
        "status": json.loads(annotations.get(STATUS, "{}")),
        "volumes": [v for v in spec.get("volumes", ()) if not _is_token(v)],
        "containers": {one["name"]: _essential(one) for one in spec["containers"]},
        "hostNetwork": spec.get("hostNetwork"),
        "nodeSelector": spec.get("nodeSelector"),
        "tolerations": [
            one for one in spec.get("tolerations", ()) if NODE_TAINTS not in one.get("key", "")
        ],
    }
    return {key: value for key, value in whole.items() if value}


def status(found: Mapping[str, Any]) -> Document:
    """Return the parsed status annotation of a pod."""
    parsed: Document = json.loads(found["metadata"]["annotations"][STATUS])
    return parsed


def selections(found: Mapping[str, Any]) -> list[Document]:
    """Return the parsed selection annotation of a pod; nothing selects nothing."""
    text = found["metadata"].get("annotations", {}).get(NETWORKS, "[]")
    parsed: list[Document] = json.loads(text)
    return parsed


def _essential(container: Mapping[str, Any]) -> Document:
    mounts = [one for one in container.get("volumeMounts", ()) if not _is_token(one)]
    whole = {
        "resources": container.get("resources"),
        "securityContext": container.get("securityContext"),
        "env": container.get("env"),
        "mounts": {one["mountPath"]: one["name"] for one in mounts},
    }
    return {key: value for key, value in whole.items() if value}


def _is_token(one: Mapping[str, Any]) -> bool:
    return str(one["name"]).startswith(TOKEN_VOLUME)


def _moved(nad: Document, namespace: str, number: int) -> Document:
    found = config(nad)
    suffix = f"p{number:04x}" if "pkey" in found else f"v{number:04d}"
    found["name"] = re.sub(r"[vp][0-9a-f]{4}$", suffix, found["name"])
    if "master" in found:
        found["master"] = re.sub(r"\.\d+$", f".{number}", found["master"])
    if "vlan" in found:
        found["vlan"] = number
    if "pkey" in found:
        found["pkey"] = f"0x{number:04x}"
    if "poolName" in found["ipam"]:
        found["ipam"]["poolName"] = found["ipam"]["poolName"].replace(TEMPLATE, namespace)
    metadata = {**nad["metadata"], "name": found["name"], "namespace": namespace}
    return with_config({**nad, "metadata": metadata}, found)
