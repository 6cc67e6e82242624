"""What our objects say of themselves: true within moments, and written by one replica alone."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness import audit, tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK
from tests.harness.webhook import ACCOUNT, NAMESPACE, Webhook, apply_examples, install

NETWORKS = "/apis/rdma.io/v1alpha1/rdmanetworks"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/rdma-webhook"
MERGE = "application/merge-patch+json"
WRITES = {"create", "update", "patch", "delete"}
QUIET_SECONDS = 6.0
POOLS = {"nvidia.com/ib_r0": "8", "nvidia.com/ib_r1": "8"}


@pytest.fixture(scope="module")
def audit_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder in which the API server notes what the webhook's account does."""
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="module")
def cluster(audit_folder: Path) -> Iterator[ControlPlane]:
    """A cluster of our own, in which leaders come and go."""
    account = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    flags = audit.flags(audit_folder, account)
    with ControlPlane(scheduler=False, apiserver_flags=flags) as control_plane:
        install(control_plane)
        apply_examples(control_plane)
        yield control_plane


@pytest.fixture(scope="module")
def served(cluster: ControlPlane) -> Iterator[Webhook]:
    """The first replica, which leads until a test ends it."""
    with Webhook(cluster) as webhook:
        webhook.register()
        # What these tests write contradicts itself: as during an outage, nobody refuses it.
        cluster.kubectl("delete", "validatingwebhookconfiguration", "rdma-webhook")
        yield webhook


@pytest.fixture
def conditions(
    cluster: ControlPlane, served: Webhook
) -> Callable[[str], dict[str, tuple[str, str, str]]]:
    """Give a reader of an object's conditions: type to status, reason and message."""
    assert served.is_running

    def read(path: str) -> dict[str, tuple[str, str, str]]:
        found = cluster.request("GET", path)
        generation = found["metadata"]["generation"]
        return {
            one["type"]: (one["status"], one["reason"], one["message"])
            for one in found.get("status", {}).get("conditions", ())
            if one["observedGeneration"] == generation and one["lastTransitionTime"]
        }

    return read


def _await(
    cluster: ControlPlane,
    conditions: Callable[[str], dict[str, tuple[str, str, str]]],
    path: str,
    kind: str,
    wanted: tuple[str, str],
) -> str:
    """Return the message of a condition once it has the wanted status and reason."""
    return cluster.wait_for(
        f"{path}: {kind} {wanted}",
        lambda: conditions(path)[kind][2] if conditions(path)[kind][:2] == wanted else None,
    )


@pytest.fixture
def namespace(cluster: ControlPlane) -> Iterator[str]:
    """Give a namespace of this test's own."""
    name = f"status-{tenants.next_number()}"
    cluster.add_namespace(name)
    yield name
    cluster.api("DELETE", f"/api/v1/namespaces/{name}")


def _put_policy(cluster: ControlPlane, namespace: str, *grants: Any, **spec: Any) -> str:  # noqa: ANN401
    """Apply a policy and return its path."""
    cluster.apply(json.dumps(tenants.policy(namespace, grants, **spec)), server_side=True)
    return tenants.policy_path(namespace)


def _statuses(audit_folder: Path) -> list[str]:
    """Every status that was written so far, by its object."""
    return [
        f"{deed.resource} {deed.namespace}/{deed.name}"
        for deed in audit.deeds(audit_folder)
        if deed.verb in WRITES and deed.resource.endswith("/status")
    ]


# ------------------------------------------------------------------ what is said


def test_kubectl_waits_for_a_policy(cluster: ControlPlane, served: Webhook) -> None:
    """The example tenant is ready, its networks are accepted, and kubectl shows it."""
    assert served.is_running
    for what, condition in (
        ("rdmapolicy/default", "Ready"),
        ("rdmanetwork/train-ib", "Accepted"),
    ):
        said = cluster.kubectl(
            "wait", f"--for=condition={condition}", what, "-n", "team-a", "--timeout=20s"
        )
        assert "condition met" in said.stdout
    shown = cluster.kubectl("get", "rdmanetworks", "train-ib").stdout.splitlines()[1].split()
    assert "Hard" in shown
    described = cluster.kubectl("describe", "rdmapolicy", "default", "-n", "team-a").stdout
    assert "Pods can use every granted network." in described


def test_a_network_says_whether_nodes_advertise_it(
    cluster: ControlPlane, conditions: Callable[[str], dict[str, tuple[str, str, str]]]
) -> None:
    """Nobody does; then a node comes whose device plugin has it; the pod's author is told."""
    path = f"{NETWORKS}/train-ib"
    told = _await(cluster, conditions, path, "ResourcesAdvertised", ("False", "NotAdvertised"))
    assert told.startswith("no node advertises nvidia.com/ib_r0, nvidia.com/ib_r1")
    pod = tenants.pod("asking", {NETWORK: "train-ib"}, {"nvidia.com/gpu": "1"})
    said = cluster.kubectl(
        *("create", "--dry-run=server", "-n", "team-a", "-f", "-"),
        user="alice",
        stdin=json.dumps(pod),
    ).stderr
    assert "network train-ib: no node advertises its devices" in said
    cluster.add_node("node-a", POOLS)
    cluster.request(
        "PATCH", path, {"spec": {"podDefaults": {"sharedMemory": "16Gi"}}}, content_type=MERGE
    )
    _await(cluster, conditions, path, "ResourcesAdvertised", ("True", "Advertised"))


def test_files_apply_in_any_order(
    cluster: ControlPlane,
    namespace: str,
    conditions: Callable[[str], dict[str, tuple[str, str, str]]],
) -> None:
    """A policy before its network says so, and is ready a moment after the last file."""
    name = namespace
    path = _put_policy(cluster, namespace, {"name": name})
    told = _await(cluster, conditions, path, "UnknownNetwork", ("True", "NetworkMissing"))
    assert name in told
    assert conditions(path)["Ready"][:2] == ("False", "UnknownNetwork")
    rails = [{"name": "r0", "resourceName": "rdma/hca"}]
    network = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": name},
        "spec": {"mode": "HostNetwork", "rails": rails},
    }
    cluster.request("POST", NETWORKS, network)
    _await(cluster, conditions, path, "Ready", ("False", "HostNetworkNotAllowed"))
    _put_policy(cluster, namespace, {"name": name}, podLimits={"hostNetwork": True})
    _await(cluster, conditions, path, "Ready", ("True", "Ready"))
    assert conditions(path)["UnknownNetwork"][0] == "False"


def test_a_number_of_two_tenants_is_said_to_both(
    cluster: ControlPlane,
    namespace: str,
    conditions: Callable[[str], dict[str, tuple[str, str, str]]],
) -> None:
    """Neither learns who the other is. Both were written before the network that brings it out."""
    other = f"{namespace}-b"
    cluster.add_namespace(other)
    number = tenants.next_number()
    paths = [
        _put_policy(cluster, one, tenants.grant(f"net-{number}", number))
        for one in (namespace, other)
    ]
    network = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": f"net-{number}"},
        "spec": {
            "mode": "SRIOVEthernet",
            "partition": {"type": "VLAN"},
            "rails": [{"name": "r0", "resourceName": "nvidia.com/late"}],
        },
    }
    cluster.request("POST", NETWORKS, network)
    for path in paths:
        told = _await(cluster, conditions, path, "PartitionConflict", ("True", "NumberTaken"))
        assert {namespace, other} & set(re.split(r"[/: ]", told)) == {path.split("/")[5]}
        assert "belongs to another tenant too" in told
    cluster.request("DELETE", paths[1])
    _await(cluster, conditions, paths[0], "PartitionConflict", ("False", "NoConflict"))
    cluster.api("DELETE", f"/api/v1/namespaces/{other}")


def test_a_claim_is_bound(cluster: ControlPlane, served: Webhook) -> None:
    """Also one that an admin made to reserve a number."""
    assert served.is_running
    number = tenants.next_number()
    name = f"leaf-eth.vlan.{number:04d}"
    partition = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPartition",
        "metadata": {"name": name},
        "spec": {
            "fabric": "leaf-eth",
            "type": "VLAN",
            "number": number,
            "tenant": "reserved",
            "partition": "main",
        },
    }
    cluster.request("POST", "/apis/rdma.io/v1alpha1/rdmapartitions", partition)
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", f"rdmapart/{name}")


def test_a_network_of_any_depth_is_read(cluster: ControlPlane, served: Webhook) -> None:
    """A template nested deeper than decoders go is not accepted, and stops nobody else."""
    name = f"deep-{tenants.next_number()}"
    levels = 990
    text = json.dumps(
        {
            "apiVersion": "rdma.io/v1alpha1",
            "kind": "RDMANetwork",
            "metadata": {"name": name},
            "spec": {
                "mode": "DeviceOnly",
                "rails": [{"name": "r0", "resourceName": "rdma/x"}],
                "template": "DEEP",
            },
        }
    ).replace('"DEEP"', '{"a":' * levels + "{}" + "}" * levels)
    cluster.kubectl("create", "-f", "-", stdin=text)
    said = '{.status.conditions[?(@.type=="Accepted")].message}'
    told = cluster.wait_for(
        "its condition",
        lambda: cluster.kubectl("get", "rdmanet", name, "-o", f"jsonpath={said}").stdout,
    )
    assert "nested deeper than 16 levels" in told
    assert served.is_running
    assert served.get("/readyz") == (200, "ready\n")
    cluster.kubectl("delete", "rdmanet", name)


def test_a_policy_that_stops_parsing_keeps_its_last_good_version(
    cluster: ControlPlane,
    namespace: str,
    conditions: Callable[[str], dict[str, tuple[str, str, str]]],
    served: Webhook,
) -> None:
    """As when a schema of later lets something through: said, counted, and pods go on."""
    path = _put_policy(cluster, namespace, {"name": "efa", "maxPerPod": 8})
    _await(cluster, conditions, path, "Ready", ("True", "Ready"))
    crd = cluster.request("GET", f"{CRDS}/rdmapolicies.rdma.io")
    version = crd["spec"]["versions"][0]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    number = spec["networks"]["items"]["properties"]["maxPerPod"]
    most = number.pop("maximum")
    cluster.request("PUT", f"{CRDS}/rdmapolicies.rdma.io", crd)
    too_much = {"spec": {"networks": [{"name": "efa", "maxPerPod": most + 1}]}}
    cluster.wait_for(
        "the other schema",
        lambda: cluster.api("PATCH", path, too_much, content_type=MERGE)[0] == 200,
    )
    told = _await(cluster, conditions, path, "Ready", ("False", "Unreadable"))
    assert told.startswith(f"RDMAPolicy {namespace}/default: spec.networks.0.maxPerPod: ")
    assert told.endswith("the version before still counts")
    pod = tenants.pod("asking", {NETWORK: "efa"}, {"nvidia.com/gpu": "1", "memory": "1Gi"})
    assert tenants.post(cluster, namespace, pod, user="admin", dry_run=True)[0] == 201
    assert "rdma_webhook_snapshot_problems" in served.get("/metrics")[1]
    cluster.request("DELETE", path)


# ------------------------------------------------------- running pods and changes


def test_running_pods_keep_what_they_have(
    cluster: ControlPlane,
    namespace: str,
    conditions: Callable[[str], dict[str, tuple[str, str, str]]],
) -> None:
    """Another number and then no policy: nobody is touched; condition and events name them."""
    first, second = tenants.next_number(), tenants.next_number()
    for number in (first, second):
        tenants.create(cluster, *tenants.attachments(namespace, "roce-vf", number))
    path = _put_policy(cluster, namespace, tenants.grant("roce-vf", first))
    _await(cluster, conditions, path, "Ready", ("True", "Ready"))
    pod = tenants.pod("keeper", {NETWORK: "roce-vf"}, {"nvidia.com/gpu": "1"})
    cluster.wait_for(
        "the pod", lambda: tenants.post(cluster, namespace, pod, user="admin")[0] == 201
    )
    before = cluster.pod(namespace, "keeper")
    _put_policy(cluster, namespace, tenants.grant("roce-vf", second))
    told = _await(cluster, conditions, path, "Outdated", ("True", "PodsKeepOldRights"))
    assert "1 running pods keep" in told
    assert "keeper" in told
    counts = cluster.request("GET", path)["status"]["counts"]
    assert counts == {"networks": 1, "partitions": 0, "outdatedPods": 1}

    def events() -> list[str]:
        found = cluster.request("GET", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
        return [one["note"] for one in found["items"] if one["reason"] == "Outdated"]

    cluster.wait_for("an event that names the pod", lambda: "keeper" in str(events()))
    assert "keeper" in cluster.kubectl("describe", "rdmapolicy", "-n", namespace).stdout
    cluster.request("DELETE", path)
    cluster.wait_for("an event of the end", lambda: any("is gone" in one for one in events()))
    assert cluster.pod(namespace, "keeper") == before


# ------------------------------------------------------------- leaders and quiet


def _holder(cluster: ControlPlane) -> str:
    return str(cluster.request("GET", LEASE)["spec"]["holderIdentity"])


def test_a_quiet_cluster_causes_no_writes(
    cluster: ControlPlane, served: Webhook, audit_folder: Path
) -> None:
    """Not even when a new leader looks at everything; the Lease alone is renewed."""
    _settle(cluster, audit_folder)
    before = _statuses(audit_folder)
    time.sleep(QUIET_SECONDS)
    assert _statuses(audit_folder) == before
    ended = len(list(audit.deeds(audit_folder)))
    served.terminate()
    assert served.wait() == 0
    assert _holder(cluster) == ""
    served.start()
    served.wait_until_ready()
    cluster.wait_for("a leader", lambda: _holder(cluster))
    time.sleep(QUIET_SECONDS)
    assert _statuses(audit_folder) == before
    later = list(audit.deeds(audit_folder))[ended:]
    assert {deed.resource for deed in later if deed.verb in WRITES} == {"leases"}
    listed = [deed for deed in later if (deed.verb, deed.resource) == ("list", "nodes")]
    assert 1 <= len(listed) <= QUIET_SECONDS


def _settle(cluster: ControlPlane, audit_folder: Path) -> None:
    """Return when the namespaces of other tests are gone, and no status was written for a while."""

    def ending() -> list[str]:
        found = cluster.request("GET", "/api/v1/namespaces")["items"]
        return [one["metadata"]["name"] for one in found if "deletionTimestamp" in one["metadata"]]

    cluster.wait_for("namespaces end", lambda: not ending(), timeout=60)
    written = None
    while written != (written := _statuses(audit_folder)):
        time.sleep(2.0)


def test_of_two_replicas_one_leads_and_the_other_takes_over(
    cluster: ControlPlane,
    served: Webhook,
    namespace: str,
    conditions: Callable[[str], dict[str, tuple[str, str, str]]],
) -> None:
    """When the leader is told to end, and when it dies."""
    with Webhook(cluster) as second:
        first_holder = cluster.wait_for("a leader", lambda: _holder(cluster))
        assert '"event":"leading"' not in second.log()
        served.kill()
        holder = cluster.wait_for(
            "another leader",
            lambda: _holder(cluster) if _holder(cluster) != first_holder else None,
            timeout=40,
        )
        assert '"event":"leading"' in second.log()
        path = _put_policy(cluster, namespace, {"name": "efa"})
        _await(cluster, conditions_of(cluster), path, "Ready", ("True", "Ready"))
        served.start()
        served.wait_until_ready()
        second.terminate()
        cluster.wait_for("the first again", lambda: _holder(cluster) not in {"", holder})
        _put_policy(cluster, namespace, {"name": "nowhere"})
        _await(cluster, conditions, path, "Ready", ("False", "UnknownNetwork"))


def conditions_of(
    cluster: ControlPlane,
) -> Callable[[str], dict[str, tuple[str, str, str]]]:
    """Return a reader of conditions while the first replica is down."""

    def read(path: str) -> dict[str, tuple[str, str, str]]:
        found: Document = cluster.request("GET", path)
        return {
            one["type"]: (one["status"], one["reason"], one["message"])
            for one in found.get("status", {}).get("conditions", ())
        }

    return read
