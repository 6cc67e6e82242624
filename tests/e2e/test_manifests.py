"""The shipped manifests on a real API server: accepted, and refusing what they should refuse."""

import base64
import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.harness.controlplane import ControlPlane
from tests.harness.objects import NAD_CRD
from tests.harness.waiting import wait_for
from tests.harness.webhook import CONFIGURATIONS

DEPLOY = Path(__file__).parents[2] / "deploy"
CRDS = ("rdmanetworks", "rdmapartitions", "rdmapolicies")

Document = dict[str, Any]

ROCE: Document = {
    "kind": "RDMANetwork",
    "metadata": {"name": "roce"},
    "spec": {
        "mode": "Macvlan",
        "fabric": "leaf-eth",
        "partition": {"type": "VLAN", "min": 200, "max": 299},
        "rails": [{"name": "r0", "resourceName": "rdma/hca_r0", "master": "ens1f0np0.$(VLAN)"}],
        "template": {"mtu": 9000, "ipam": {"type": "nv-ipam", "poolName": "$(NAMESPACE)"}},
        "podDefaults": {"capabilities": {"add": ["IPC_LOCK"], "drop": ["NET_RAW"]}},
    },
}
IB: Document = {
    "kind": "RDMANetwork",
    "metadata": {"name": "train-ib"},
    "spec": {
        "mode": "SRIOVInfiniBand",
        "partition": {"type": "PKey", "min": 0x10, "max": 0x1FF},
        "rails": [{"name": "r0", "resourceName": "nvidia.com/ib_r0"}],
        "count": "All",
    },
}
HOST: Document = {
    "kind": "RDMANetwork",
    "metadata": {"name": "lingjun"},
    "spec": {"mode": "HostNetwork", "rails": [{"name": "hca", "resourceName": "rdma/hca"}]},
}
DRA: Document = {
    "kind": "RDMANetwork",
    "metadata": {"name": "dra"},
    "spec": {"mode": "DRA", "rails": [{"name": "r0", "deviceClassName": "dranet"}]},
}
POLICY: Document = {
    "kind": "RDMAPolicy",
    "metadata": {"name": "default", "namespace": "team-a"},
    "spec": {
        "defaultNetwork": "train-ib",
        "networks": [{"name": "train-ib", "partitions": [{"name": "main", "number": 0x11}]}],
    },
}
CLAIM: Document = {
    "kind": "RDMAPartition",
    "metadata": {"name": "ib-a.pkey.0011"},
    "spec": {"fabric": "ib-a", "type": "PKey", "number": 0x11, "tenant": "a", "partition": "main"},
}

HEADINGS = {
    "rdmanet": (
        "NAME MODE FABRIC PARTITION ISOLATION ACCEPTED ADVERTISED AGE",
        "MIN MAX REASON",
    ),
    "rdmapol": (
        "NAMESPACE NAME TENANT ENFORCEMENT DEFAULT READY AGE",
        "NETWORKS PARTITIONS OUTDATED REASON",
    ),
}
"""Columns of ``kubectl get`` and those that ``-o wide`` adds."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[ControlPlane]:
    """An API server of our own, since nobody answers the webhook that is registered here."""
    with ControlPlane(controllers=False, scheduler=False) as control_plane:
        control_plane.apply(NAD_CRD, server_side=True)
        control_plane.apply(DEPLOY / "base", server_side=True)
        for plural in CRDS:
            _established(control_plane, f"{plural}.rdma.io")
        yield control_plane


def _established(cluster: ControlPlane, name: str) -> Mapping[str, str]:
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"

    def conditions() -> dict[str, str] | None:
        _, crd = cluster.api("GET", path)
        found = {c["type"]: c["status"] for c in crd.get("status", {}).get("conditions", [])}
        return found if found.get("Established") == "True" else None

    return wait_for(f"{name}: established", conditions)


def _changed(base: Document, **changes: object) -> Document:
    """A copy of an object with fields set; ``a__b`` is field b of a, digits index a list."""
    document = copy.deepcopy(base)
    for path, value in changes.items():
        *steps, last = path.split("__")
        node: Any = document
        for step in steps:
            node = node[int(step)] if step.isdigit() else node.setdefault(step, {})
        node[last] = value
    return document


def _path(document: Document) -> str:
    plural = {
        "RDMANetwork": "rdmanetworks",
        "RDMAPolicy": "namespaces/team-a/rdmapolicies",
        "RDMAPartition": "rdmapartitions",
    }[document["kind"]]
    return f"/apis/rdma.io/v1alpha1/{plural}"


def _create(cluster: ControlPlane, document: Document) -> tuple[int, Any]:
    """Status code and answer of creating an object without storing it."""
    body = {"apiVersion": "rdma.io/v1alpha1", **document}
    return cluster.api("POST", f"{_path(document)}?dryRun=All", body)


def _causes(answer: Document) -> str:
    """What the API server complains about, a line each: ``field: message``."""
    causes = answer.get("details", {}).get("causes", [])
    return "\n".join(f"{cause['field']}: {cause['message']}" for cause in causes)


@pytest.mark.parametrize("plural", CRDS)
def test_a_crd_is_structural(cluster: ControlPlane, plural: str) -> None:
    """The API server takes the schema as it is and serves the kind."""
    conditions = _established(cluster, f"{plural}.rdma.io")
    assert conditions == {"Established": "True", "NamesAccepted": "True"}


@pytest.mark.parametrize("document", [ROCE, IB, HOST, DRA, POLICY, CLAIM], ids=str)
def test_a_right_object_is_taken(cluster: ControlPlane, document: Document) -> None:
    """The objects that the refusals below are made from are right themselves."""
    status, answer = _create(cluster, document)
    assert status == 201, _causes(answer)


def test_naming_the_default_fabric_is_no_change(cluster: ControlPlane) -> None:
    """Absent means the network's own name, so writing that down is allowed."""
    document = _changed(IB, apiVersion="rdma.io/v1alpha1", metadata__name="plain")
    stored = cluster.request("POST", _path(document), document)
    status, answer = cluster.api(
        "PUT", f"{_path(document)}/plain", _changed(stored, spec__fabric="plain")
    )
    assert status == 200, _causes(answer)


def test_defaults_are_filled_in_by_the_api_server(cluster: ControlPlane) -> None:
    """A policy that says little reads the same for the webhook and for the API server's CEL."""
    status, stored = _create(cluster, _changed(POLICY, spec={}))
    assert status == 201, _causes(stored)
    assert stored["spec"] == {
        "enforcement": "Warn",
        "minimumIsolation": "None",
        "podLimits": {
            "capabilities": ["IPC_LOCK"],
            "hostNetwork": False,
            "podSecurityConflict": "Deny",
            "privileged": False,
        },
        "rawNetworks": "Deny",
    }


def test_a_template_keeps_unknown_keys(cluster: ControlPlane) -> None:
    """Keys of a CNI plugin that we do not know are stored as they were written."""
    status, stored = _create(cluster, ROCE)
    assert status == 201
    assert stored["spec"]["template"] == ROCE["spec"]["template"]


def test_the_examples_are_taken(cluster: ControlPlane) -> None:
    """Every shipped network, tenant and attachment applies, and tables show them."""
    for folder in ("networks", "tenants", "attachments"):
        cluster.apply(DEPLOY / "examples" / folder, server_side=True)
    table = cluster.kubectl("get", "rdma", "-A").stdout
    assert "SRIOVInfiniBand" in table
    assert "acme" in table
    for short, shown in HEADINGS.items():
        narrow = cluster.kubectl("get", short, "-A").stdout.splitlines()[0].split()
        wide = cluster.kubectl("get", short, "-A", "-o", "wide").stdout.splitlines()[0].split()
        assert [one for one in wide if one in narrow] == narrow == shown[0].split()
        assert [one for one in wide if one not in narrow] == shown[1].split()
    explained = cluster.kubectl("explain", "rdmanet.spec.rails.master").stdout
    assert "Interface on the host" in explained


def test_the_account_reads_what_it_decides_by(cluster: ControlPlane) -> None:
    """RBAC of the base: five kinds to read, none to write but in status; no Secret."""
    account = "--as=system:serviceaccount:rdma-system:rdma-webhook"
    for kind in (*(f"{p}.rdma.io" for p in CRDS), "namespaces", "net-attach-def"):
        for verb in ("list", "watch"):
            assert _may(cluster, account, verb, kind) == "yes"
        assert _may(cluster, account, "update", kind) == "no"
    for kind in ("pods", "nodes"):
        assert _may(cluster, account, "list", kind) == "yes"
        assert _may(cluster, account, "watch", kind) == "no"
    assert _may(cluster, account, "get", "secrets") == "no"


def _may(cluster: ControlPlane, account: str, verb: str, kind: str) -> str:
    done = cluster.kubectl("auth", "can-i", verb, kind, "-A", account, check=False)
    return done.stdout.strip()


@pytest.mark.parametrize("key", ["rdma.io/network", "RDMA.io/Network", "rdma.io/status"])
def test_an_annotated_pod_waits_for_the_webhook(cluster: ControlPlane, key: str) -> None:
    """Nobody answers here, so exactly the pods that the condition selects are refused."""
    _, answer = _pod(cluster, "team-a", {key: "x"})
    assert 'failed calling webhook "pods.rdma.io"' in answer["message"]


@pytest.mark.parametrize(
    ("namespace", "annotations"),
    [
        ("team-a", None),
        ("team-a", {}),
        ("team-a", {"example.com/rdma.io": "x", "xrdma.io/network": "x"}),
        ("kube-system", {"rdma.io/network": "x"}),
    ],
    ids=["none", "empty", "others", "kube-system"],
)
def test_any_other_pod_never_meets_the_webhook(
    cluster: ControlPlane, namespace: str, annotations: Mapping[str, str] | None
) -> None:
    """An outage of the webhook is no matter to pods that never asked for RDMA."""
    status, answer = _pod(cluster, namespace, annotations)
    assert status == 201, answer


def _pod(
    cluster: ControlPlane, namespace: str, annotations: Mapping[str, str] | None
) -> tuple[int, Any]:
    body = {
        "metadata": {"name": "probe", "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": "pause"}]},
    }
    return cluster.api("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", body)


def test_the_webhooks_own_pod_is_allowed_in_its_namespace(cluster: ControlPlane) -> None:
    """Pod Security restricted takes the pod of the Deployment as it is."""
    deployment = cluster.get_json("-n", "rdma-system", "deployment", "rdma-webhook")
    template = deployment["spec"]["template"]
    body = {"metadata": {"name": "probe", **template["metadata"]}, "spec": template["spec"]}
    status, answer = cluster.api("POST", "/api/v1/namespaces/rdma-system/pods?dryRun=All", body)
    assert status == 201, answer


@pytest.mark.parametrize("kind", [name.lower() for name in CONFIGURATIONS])
def test_applying_again_keeps_the_ca_bundle(cluster: ControlPlane, kind: str) -> None:
    """The certificate authority is put in by someone else, and the manifest leaves it alone."""
    bundle = base64.b64encode(cluster.ca_file.read_bytes()).decode()
    change = {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}
    cluster.kubectl("patch", kind, "rdma-webhook", "--type=json", "-p", json.dumps([change]))
    cluster.apply(DEPLOY / "base", server_side=True)
    (webhook,) = cluster.get_json(kind, "rdma-webhook")["webhooks"]
    assert webhook["clientConfig"]["caBundle"] == bundle


def test_the_url_form_is_taken(cluster: ControlPlane) -> None:
    """The overlay for a webhook outside the cluster replaces the Service by an address."""
    cluster.kubectl(
        "apply", "--server-side", "--dry-run=server", "-k", str(DEPLOY / "overlays/url")
    )
    rendered = cluster.kubectl("kustomize", str(DEPLOY / "overlays" / "url")).stdout
    assert "url: https://127.0.0.1:8443/mutate" in rendered
    assert "url: https://127.0.0.1:8443/validate" in rendered
    assert "kind: Deployment" not in rendered
    assert rendered.count("kind: ValidatingAdmissionPolicyBinding") == 3


def test_the_cert_manager_form_renders(cluster: ControlPlane) -> None:
    """The overlay adds the certificate that the Deployment mounts."""
    rendered = cluster.kubectl("kustomize", str(DEPLOY / "overlays" / "cert-manager")).stdout
    assert "secretName: rdma-webhook-tls" in rendered
    assert rendered.count("kind: ValidatingAdmissionPolicyBinding") == 3
    assert rendered.count("cert-manager.io/inject-ca-from: rdma-system/rdma-webhook") == 2
