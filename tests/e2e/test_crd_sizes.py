"""The largest objects that our bounds allow, on the real API server: rules stay within their cost.

The CRDs being taken at all proves the estimate; these prove the run.
"""

import string
from typing import Any

import pytest

from tests.harness.controlplane import ControlPlane
from tests.harness.crd_cases import Object, causes, collection

LIST = 64
RAILS = NETWORKS = PARTITIONS = CONDITIONS = 16


def label(number: int, length: int = 63) -> str:
    """A DNS label of full length, different for each number."""
    return f"n{number:03}".ljust(length, "x")


def capabilities(first: str) -> list[str]:
    """As many capabilities as a list holds, of full length."""
    return [f"{first}{number:02}_".ljust(63, "X") for number in range(LIST)]


def variables(first: str) -> list[Object]:
    """As many variables as a list holds, with names and values of full length."""
    return [
        {"name": f"{first}{number:02}".ljust(128, "_"), "value": "$" * 1024}
        for number in range(LIST)
    ]


def pod_defaults(add: str) -> Object:
    """Every field of podDefaults at its bounds."""
    key = f"{'p' * 253}/{'k' * 60}"
    toleration = {"key": f"{'p' * 252}/{'k' * 63}", "value": "v" * 63, "effect": "NoExecute"}
    return {
        "capabilities": {"add": capabilities(add), "drop": capabilities("D")},
        "sharedMemory": "1".rjust(30, "0") + "Gi",
        "env": variables("D"),
        "hugepages": {
            f"hugepages-{size}": "0".rjust(30, "0") + "Gi"
            for size in ("2Mi", "1Gi", "64Ki", "16Gi")
        },
        "nodeSelector": {f"{key}{number:03}": "v" * 63 for number in range(LIST)},
        "tolerations": [
            {**toleration, "operator": "Equal", "tolerationSeconds": 2**62 + number}
            for number in range(LIST)
        ],
    }


def network() -> Object:
    """An RDMANetwork with sixteen rails and all else at its bounds."""
    rails = [
        {
            "name": label(number, 32),
            "resourceName": f"{'p' * 252}/{label(number)}",
            "master": f"ens{number:02}".ljust(24, "x") + ".$(VLAN)",
            "altNames": [f"a{number:02}{other:02}".ljust(32, "x") for other in range(16)],
            "hca": f"mlx{number:02}".ljust(32, "x"),
            "networkAttachment": {"namespace": label(number), "name": label(number, 253)},
        }
        for number in range(RAILS)
    ]
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": label(0)},
        "spec": {
            "mode": "Macvlan",
            "fabric": label(1),
            "partition": {"type": "VLAN", "min": 1, "max": 4094},
            "hostInterfaces": "PreCreated",
            "count": RAILS,
            "rails": rails,
            "template": {f"key{number}": "$(NAMESPACE)" * 18 for number in range(LIST)},
            "podDefaults": pod_defaults("A"),
        },
    }


def policy() -> Object:
    """An RDMAPolicy with sixteen networks of sixteen partitions and all else at its bounds."""
    networks = [
        {
            "name": label(number),
            "maxPerPod": 1024,
            "quota": 1_000_000,
            "partitions": [
                {"name": label(other), "number": 0x7FFE - other} for other in range(PARTITIONS)
            ],
        }
        for number in range(NETWORKS)
    ]
    paths = [f"/{number:02}".ljust(4094, "d") + "/*" for number in range(LIST)]
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPolicy",
        "metadata": {"name": "default", "namespace": "team-a"},
        "spec": {
            "tenant": "t" * 63,
            "enforcement": "Enforce",
            "defaultNetwork": label(NETWORKS - 1),
            "networks": networks,
            "podDefaults": pod_defaults("A"),
            "podLimits": {
                "capabilities": capabilities("A"),
                "sharedMemory": {"max": "1".rjust(30, "0") + "Gi"},
                "env": variables("F"),
                "hostPaths": paths,
                "requiredDrop": capabilities("D"),
            },
        },
    }


def partition() -> Object:
    """An RDMAPartition with the longest names."""
    spec = {"fabric": label(1), "type": "PKey", "number": 0x7FFE, "partition": label(2)}
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPartition",
        "metadata": {"name": f"{label(1)}.pkey.7ffe"},
        "spec": {**spec, "tenant": f"namespace/{label(3)}"},
    }


def status() -> Object:
    """As many conditions as a status holds, of full length."""
    return {
        "conditions": [
            {
                "type": letter.ljust(316, "x"),
                "status": "Unknown",
                "observedGeneration": 2**62,
                "lastTransitionTime": "2026-01-31T12:00:00Z",
                "reason": "R" * 1024,
                "message": "m" * 32768,
            }
            for letter in string.ascii_uppercase[:CONDITIONS]
        ]
    }


OBJECTS = {"network": network(), "policy": policy(), "partition": partition()}


@pytest.mark.parametrize("body", OBJECTS.values(), ids=list(OBJECTS))
def test_the_largest_object_is_taken_and_changed(kinds: ControlPlane, body: Object) -> None:
    """It is created, gets the largest status, and is written once more, each within its cost."""
    path = f"{collection(body)}/{body['metadata']['name']}"
    outcome, stored = kinds.api("POST", collection(body), body)
    assert outcome == 201, causes(stored)
    try:
        full = {**stored, "status": status()}
        outcome, stored = kinds.api("PUT", f"{path}/status", full)
        assert outcome == 200, causes(stored)
        assert len(stored["status"]["conditions"]) == CONDITIONS
        stored["metadata"]["labels"] = {"again": "true"}
        outcome, stored = kinds.api("PUT", path, stored)
        assert outcome == 200, causes(stored)
    finally:
        kinds.request("DELETE", path)


def _longer(node: Any) -> Any:  # noqa: ANN401 any JSON
    """A list with its first item once more; a text with its first character once more."""
    return [node[0], *node] if isinstance(node, list) else node[0] + node


@pytest.mark.parametrize(
    ("body", "steps", "field"),
    [
        (network(), ("spec", "rails"), "spec.rails"),
        (network(), ("spec", "podDefaults", "env"), "spec.podDefaults.env"),
        (network(), ("spec", "rails", 0, "master"), "spec.rails[0].master"),
        (network(), ("spec", "podDefaults", "tolerations"), "spec.podDefaults.tolerations"),
        (policy(), ("spec", "networks"), "spec.networks"),
        (policy(), ("spec", "networks", 3, "partitions"), "spec.networks[3].partitions"),
        (policy(), ("spec", "podLimits", "hostPaths", 0), "spec.podLimits.hostPaths[0]"),
        (policy(), ("spec", "podLimits", "env", 0, "value"), "spec.podLimits.env[0].value"),
        (partition(), ("spec", "tenant"), "spec.tenant"),
    ],
    ids=str,
)
def test_one_more_is_too_many(
    kinds: ControlPlane, body: Object, steps: tuple[Any, ...], field: str
) -> None:
    """The bounds are where the largest objects are: one item or character more is refused."""
    node: Any = body
    for step in steps[:-1]:
        node = node[step]
    node[steps[-1]] = _longer(node[steps[-1]])
    if steps[-1] == "tenant":
        node["tenant"] = "t" * 128
    outcome, answer = kinds.api("POST", f"{collection(body)}?dryRun=All", body)
    assert outcome == 422
    said = dict(causes(answer))
    assert "Too " in said[field], said
