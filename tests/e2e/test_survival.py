"""What others wrote into a pod survives: unknown fields, and what an injector after us puts in."""

import copy
import json
from collections.abc import Callable, Mapping

import pytest

from tests.harness import tenants
from tests.harness.calls import Document, patched
from tests.harness.controlplane import ControlPlane
from tests.harness.injector import SIDECAR, SidecarInjector
from tests.harness.injector import VOLUME as SIDECAR_VOLUME
from tests.harness.tenants import NETWORK, Tenant
from tests.harness.webhook import Webhook

MakeTenant = Callable[..., Tenant]

RICH: Document = {
    "serviceAccountName": "default",
    "automountServiceAccountToken": False,
    "terminationGracePeriodSeconds": 7,
    "hostname": "worker",
    "subdomain": "job",
    "shareProcessNamespace": True,
    "schedulingGates": [{"name": "example.com/later"}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"a": "b"}},
        }
    ],
    "affinity": {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 3,
                    "preference": {
                        "matchExpressions": [{"key": "rack", "operator": "In", "values": ["1"]}]
                    },
                }
            ]
        }
    },
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "securityContext": {
        "fsGroup": 5,
        "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}],
    },
    "initContainers": [
        {"name": "setup", "image": "setup"},
        {"name": "proxy", "image": "proxy", "restartPolicy": "Always", "env": [{"name": "A"}]},
    ],
    "containers": [
        {
            "name": "main",
            "image": "example",
            "command": ["sh", "-c", "echo ü \u2028 \U0001f680 $(A) && true"],
            "envFrom": [{"configMapRef": {"name": "settings", "optional": True}}],
            "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
            "readinessProbe": {"grpc": {"port": 9}, "periodSeconds": 11},
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            "resources": {"limits": {"cpu": "1500m", "memory": "123456789"}},
            "volumeMounts": [{"name": "all", "mountPath": "/all", "readOnly": True}],
            "securityContext": {"capabilities": {"add": ["SYS_NICE"]}, "runAsUser": 0},
        },
        {"name": "second", "image": "second"},
    ],
    "volumes": [
        {
            "name": "all",
            "projected": {
                "sources": [
                    {
                        "downwardAPI": {
                            "items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]
                        }
                    },
                    {"serviceAccountToken": {"path": "t", "audience": "x"}},
                ]
            },
        }
    ],
}
"""Fields that the webhook does not know, beside those that it changes."""


def _lost(before: object, after: object, path: str = "") -> list[str]:
    """Where something of ``before`` is no longer there; lists may only have grown at their end."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        gone = [f"{path}/{key}" for key in before if key not in after]
        kept = [key for key in before if key in after]
        return gone + [
            one for key in kept for one in _lost(before[key], after[key], f"{path}/{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        pairs = enumerate(zip(before, after, strict=False))
        return [one for index, (b, a) in pairs for one in _lost(b, a, f"{path}/{index}")]
    return [] if before == after else [path]


def test_what_the_api_server_passes_on_survives(
    controlplane: ControlPlane, make_tenant: MakeTenant
) -> None:
    """Every field that the API server keeps of a plain pod is the same in the equipped one."""
    tenant = make_tenant("roce", podLimits={"capabilities": ["IPC_LOCK", "SYS_NICE"]})
    stored = {}
    for annotations in ({}, {NETWORK: "roce"}):
        body = tenants.pod("rich", annotations)
        body["spec"] = {**copy.deepcopy(RICH), "futureField": {"a": [1]}}
        body["spec"]["containers"][0]["futureField"] = "x"
        status, answer = tenants.post(
            controlplane, tenant.namespace, body, user="alice", dry_run=True
        )
        assert status == 201, answer
        stored[NETWORK in annotations] = answer["spec"]
    assert _lost(stored[False], stored[True]) == []
    assert "futureField" not in json.dumps(stored[True]), "the API server prunes what it knows not"
    context = stored[True]["containers"][0]["securityContext"]
    assert context["capabilities"] == {"add": ["SYS_NICE", "IPC_LOCK"], "drop": ["NET_RAW"]}


@pytest.mark.usefixtures("example_tenants")
def test_fields_of_a_later_kubernetes_survive(webhook: Webhook) -> None:
    """A newer API server passes fields on that nobody knows yet: the patch leaves them alone."""
    future = {"a": [1, None, {"b": 1.5e300}], "c": 2**63}
    body = tenants.pod("future", {NETWORK: "roce"}, {"nvidia.com/gpu": "1"}, futureField=future)
    container = body["spec"]["containers"][0]
    container |= {"futureField": future, "securityContext": {"futureField": future}}
    container["resources"]["futureField"] = future
    equipped = patched(body, webhook.review(body, "team-a"))
    assert _lost(body, equipped) == []
    assert equipped["spec"]["futureField"] == future
    again = webhook.review(equipped, "team-a")
    assert again["allowed"]
    assert "patch" not in again


@pytest.mark.parametrize(
    ("network", "drops"),
    [
        pytest.param("train-ib", [], id="nothing is left to do"),
        pytest.param("roce", ["NET_RAW"], id="the sidecar must drop NET_RAW too"),
    ],
)
def test_another_injector_after_us_changes_nothing_of_ours(
    controlplane: ControlPlane,
    webhook: Webhook,
    make_tenant: MakeTenant,
    network: str,
    drops: list[str],
) -> None:
    """A sidecar put first makes the API server call us again: nothing is added twice or moved."""
    tenant = make_tenant(network)
    body = tenants.pod("twice", {NETWORK: network}, {"nvidia.com/gpu": "1"})
    _, alone = tenants.post(controlplane, tenant.namespace, body, user="alice", dry_run=True)
    expected = tenants.essential(alone)
    calls = webhook.calls()
    with SidecarInjector(controlplane, tenant.namespace):
        status, stored = tenants.post(controlplane, tenant.namespace, body, user="alice")
    assert status == 201, stored
    assert [one["name"] for one in stored["spec"]["containers"]] == [SIDECAR, "main"]
    found = tenants.essential(stored)
    sidecar = found["containers"].pop(SIDECAR)
    assert found["volumes"].pop(0) == {"name": SIDECAR_VOLUME, "emptyDir": {}}
    assert found == expected
    context = {"securityContext": {"capabilities": {"drop": drops}}} if drops else {}
    assert sidecar == {"mounts": {"/cache": SIDECAR_VOLUME}, **context}
    assert webhook.calls() == calls + 2
    first, second = webhook.decisions(tenant.namespace, "twice")[-2:]
    assert first["uid"] != second["uid"]
    assert first["verdict"] == "Patched"
    assert (second["verdict"], second["ops"] > 0) == (
        ("Patched", True) if drops else ("Unchanged", False)
    )
