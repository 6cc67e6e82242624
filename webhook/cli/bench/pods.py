"""Reviews as an API server sends them: defaulted, with managed fields and a token volume.

The one place that makes them; tests and benchmarks of any kind take them from here.
"""

from dataclasses import dataclass
from typing import Any, Final

from policies.names import ANNOTATION_NETWORK
from webhook.cli.reviews import review

NETWORK: Final = "train-ib"
NAMESPACE: Final = "team-a"
_TOKEN: Final = "kube-api-access-x{number:04d}"  # noqa: S105 - a volume's name
_EVERY: Final = 10
"""Every tenth variable takes its value from a field."""
_WORDS: Final = ("NCCL", "TORCH", "OMP", "CUDA", "MODEL", "DATA", "CHECKPOINT", "LOG")


@dataclass(frozen=True, slots=True)
class Size:
    """How large a pod is.

    Attributes:
        title: Size of its review in words.
        containers: How many.
        variables: Environment variables of each.
        is_bare: Whether managed fields and most defaults are left out.
    """

    title: str
    containers: int
    variables: int
    is_bare: bool = False


SMALL, MEDIUM, USUAL, LARGE = SIZES = (
    Size("1 KB", 1, 0, is_bare=True),
    Size("5 KB", 1, 15),
    Size("17 KB", 2, 48),
    Size("40 KB", 4, 60),
)


def body(size: Size, number: int = 0, network: str = NETWORK) -> bytes:
    """Return the review of one pod of a job.

    Args:
        size: How large.
        number: Which pod: it has a name and a uid of its own.
        network: What its annotation asks for; empty for a pod that asks for nothing.
    """
    return review(pod(size, number, network), NAMESPACE, f"3f9a1c52-0000-4000-8000-{number:012d}")


def pod(size: Size, number: int = 0, network: str = NETWORK) -> dict[str, Any]:
    """Return one pod of a job, as the API server hands it to admission."""
    containers = [_container(size, index) for index in range(size.containers)]
    metadata: dict[str, Any] = {
        "generateName": f"train-{number}-",
        "namespace": NAMESPACE,
        "creationTimestamp": None,
        "labels": {"job-name": "train", "batch.kubernetes.io/job-completion-index": str(number)},
        "annotations": {"batch.kubernetes.io/job-completion-index": str(number)},
    }
    if network:
        metadata["annotations"][ANNOTATION_NETWORK] = network
    spec: dict[str, Any] = {"containers": containers, "dnsPolicy": "ClusterFirst"}
    if not size.is_bare:
        metadata["ownerReferences"] = [_owner()]
        metadata["managedFields"] = [_managed(size)]
        spec |= _defaults()
    _name_token(spec, number)
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": {}}


def _name_token(spec: dict[str, Any], number: int) -> None:
    """Give the token's volume the name that the API server makes up for each pod."""
    mounts = [one for container in spec["containers"] for one in container.get("volumeMounts", ())]
    for one in (*spec.get("volumes", ()), *mounts):
        one["name"] = one["name"].format(number=number)


def _container(size: Size, index: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": f"train-{index}" if index else "train",
        "image": f"registry.example/team/train:{index}.4.2",
        "resources": _resources(index),
    }
    if size.is_bare:
        return made
    return made | {
        "command": ["torchrun", "--nnodes=16", "--nproc-per-node=8", "train.py"],
        "env": [_variable(number) for number in range(size.variables)],
        "ports": [{"name": "rendezvous", "containerPort": 29500, "protocol": "TCP"}],
        "volumeMounts": [
            {"name": "data", "mountPath": "/data", "readOnly": True},
            {
                "name": _TOKEN,
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            },
        ],
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"allowPrivilegeEscalation": False},
    }


def _resources(index: int) -> dict[str, Any]:
    if index:
        return {"limits": {"cpu": "1", "memory": "2Gi"}, "requests": {"cpu": "1", "memory": "2Gi"}}
    amounts = {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8"}
    return {"limits": amounts, "requests": dict(amounts)}


def _variable(number: int) -> dict[str, Any]:
    name = f"{_WORDS[number % len(_WORDS)]}_SETTING_{number}"
    if number % _EVERY == 0:
        source = {"apiVersion": "v1", "fieldPath": "metadata.name"}
        return {"name": name, "valueFrom": {"fieldRef": source}}
    return {"name": name, "value": f"value-{number}-of-a-usual-length"}


def _owner() -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "train",
        "uid": "9d1e7c5a-0000-4000-8000-000000000001",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _managed(size: Size) -> dict[str, Any]:
    """Return the managed fields of a pod: every key again, as a path."""
    variables: dict[str, Any] = {
        f'k:{{"name":"{_variable(number)["name"]}"}}': {".": {}, "f:name": {}, "f:value": {}}
        for number in range(size.variables)
    }
    containers = {
        f'k:{{"name":"train-{index}"}}': {
            ".": {},
            "f:command": {},
            "f:env": {".": {}, **variables},
            "f:image": {},
            "f:imagePullPolicy": {},
            "f:name": {},
            "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}, "f:memory": {}}},
        }
        for index in range(size.containers)
    }
    return {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {}}, "f:spec": {"f:containers": containers}},
    }


def _defaults() -> dict[str, Any]:
    """Return the fields of a pod spec that the API server and its admission fill in."""
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    return {
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": _TOKEN, "projected": {"sources": [token], "defaultMode": 420}},
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
