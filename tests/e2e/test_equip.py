"""Pods on the real API server become what their annotation asks for, and no other pod changes."""

import json
from collections.abc import Callable, Iterator, Mapping

import pytest
import yaml

from policies.names import VERSION
from tests.harness import tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK, NETWORKS, Tenant
from tests.harness.webhook import EXAMPLES, Webhook, documents

MakeTenant = Callable[..., Tenant]

PODS = EXAMPLES / "pods"
MACVLAN = PODS / "macvlan.yaml"
EVERYTHING = {
    "cpu": "512",
    "memory": "4Ti",
    "nvidia.com/gpu": "64",
    "rdma/hca_r0": "1000",
    "rdma/hca_r1": "1000",
    "nvidia.com/ib_r0": "64",
    "nvidia.com/ib_r1": "64",
}
"""A node that every example workload fits on."""
NOT_ON_NODE = {"cpu": "512", "memory": "4Ti", "nvidia.com/gpu": "64"}

ROCE_RESOURCES = {"rdma/hca_r0": "1", "rdma/hca_r1": "1"}
GIVEN = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}
SHARED_MEMORY = {"name": "rdma-shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
EQUIPPED_MACVLAN = {
    "selections": [
        {"name": f"rdma-roce-r{rail}-v0210", "namespace": "team-a", "interface": f"rdma{rail}"}
        for rail in range(2)
    ],
    "status": {
        "networks": ["roce"],
        "interfaces": ["rdma0", "rdma1"],
        "resources": {"rdma/hca_r0": 1, "rdma/hca_r1": 1},
        "partition": "main",
        "policyGeneration": 1,
        "version": VERSION,
    },
    "volumes": [SHARED_MEMORY],
    "containers": {
        "train": {
            "resources": {
                "limits": {**GIVEN, **ROCE_RESOURCES},
                "requests": {**GIVEN, **ROCE_RESOURCES},
            },
            "securityContext": {"capabilities": {"add": ["IPC_LOCK"], "drop": ["NET_RAW"]}},
            "mounts": {"/dev/shm": "rdma-shm"},  # noqa: S108 - a path in the container
        }
    },
}
"""All that one annotation and the policy of team-a make of the example pod."""


@pytest.fixture
def nodes(controlplane: ControlPlane) -> Iterator[Callable[[str, Mapping[str, str]], None]]:
    """Give a maker of nodes; they are gone after the test."""
    made: list[str] = []

    def make(name: str, capacity: Mapping[str, str]) -> None:
        made.append(name)
        controlplane.add_node(name, capacity)

    yield make
    for name in made:
        controlplane.api("DELETE", f"/api/v1/nodes/{name}")


def _pods(cluster: ControlPlane, namespace: str, count: int) -> list[Document]:
    """The pods of a workload once its controller has made them all."""
    path = f"/api/v1/namespaces/{namespace}/pods"

    def found() -> list[Document] | None:
        items: list[Document] = cluster.request("GET", path)["items"]
        return items if len(items) == count else None

    return cluster.wait_for(f"{count} pods in {namespace}", found)


# --------------------------------------------------------------------- users


@pytest.mark.usefixtures("example_tenants")
def test_a_tenants_pod_is_equipped(controlplane: ControlPlane) -> None:
    """``kubectl create`` by a user who may only edit in team-a gives the pod all it needs."""
    said = controlplane.kubectl("create", "-f", str(MACVLAN), user="alice")
    assert said.stdout == "pod/macvlan created\n"
    stored = controlplane.pod("team-a", "macvlan")
    assert tenants.essential(stored) == EQUIPPED_MACVLAN


@pytest.mark.usefixtures("example_tenants")
def test_a_user_reads_what_to_know_about_an_admitted_pod(controlplane: ControlPlane) -> None:
    """Warnings reach the user's terminal, few and short; the pod is created all the same."""
    (body,) = documents(PODS / "host-network.yaml")
    ports = [{"containerPort": port, "hostPort": port} for port in (80, 443)]
    body["spec"]["containers"][0]["ports"] = ports
    said = controlplane.kubectl("create", "-f", "-", user="alice", stdin=json.dumps(body))
    assert said.stdout == "pod/host-network created\n"
    warnings = [line.partition("Warning: ")[2] for line in said.stderr.splitlines()]
    assert "host network: container ports 80, 443 become ports of the node" in warnings
    assert len(warnings) <= 3
    assert all(0 < len(warning) <= 120 for warning in warnings)
    stored = controlplane.pod("team-a", "host-network")["spec"]
    assert (stored["hostNetwork"], stored["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")


@pytest.mark.usefixtures("example_tenants")
def test_a_dry_run_shows_the_same_and_writes_nothing(controlplane: ControlPlane) -> None:
    """``--dry-run=server -o yaml`` prints the equipped pod; afterwards there is none."""
    shown = controlplane.kubectl(
        "create", "--dry-run=server", "-o", "yaml", "-f", str(MACVLAN), user="alice"
    )
    assert tenants.essential(yaml.safe_load(shown.stdout)) == EQUIPPED_MACVLAN
    assert controlplane.find("/api/v1/namespaces/team-a/pods/macvlan") is None


@pytest.mark.usefixtures("example_tenants")
@pytest.mark.parametrize(
    ("file", "user", "count", "missing"),
    [
        pytest.param("inference.yaml", "alice", 2, "nvidia.com/ib_r0", id="Deployment"),
        pytest.param("job.yaml", "bob", 4, "rdma/hca_r0", id="Job"),
    ],
)
def test_a_workloads_pods_wait_for_a_node_that_has_the_devices(
    controlplane: ControlPlane,
    nodes: Callable[[str, Mapping[str, str]], None],
    file: str,
    user: str,
    count: int,
    missing: str,
) -> None:
    """Pods made by a controller are equipped, so the scheduler keeps them off other nodes."""
    (workload,) = documents(PODS / file)
    namespace = controlplane.tenants[user]
    nodes("gpus-alone", NOT_ON_NODE)
    controlplane.kubectl("apply", "-f", str(PODS / file), user=user)
    pods = _pods(controlplane, namespace, count)
    names = [pod["metadata"]["name"] for pod in pods]
    for pod, name in zip(pods, names, strict=True):
        assert pod["metadata"]["ownerReferences"][0]["kind"] in {"ReplicaSet", "Job"}
        assert tenants.status(pod)["resources"][missing] == 1
        reason = controlplane.wait_until_unschedulable(namespace, name)
        assert f"Insufficient {missing}" in reason
    nodes("with-devices", EVERYTHING)
    bound = {controlplane.wait_until_bound(namespace, name) for name in names}
    assert bound == {"with-devices"}, workload["kind"]


@pytest.mark.usefixtures("example_tenants")
def test_the_annotation_on_the_workload_itself_equips_nothing(controlplane: ControlPlane) -> None:
    """On a Deployment in place of its template the annotation reaches no pod."""
    (workload,) = documents(PODS / "inference.yaml")
    template = workload["spec"]["template"]["metadata"]
    workload["metadata"]["annotations"] = template.pop("annotations")
    controlplane.kubectl("apply", "-f", "-", user="alice", stdin=json.dumps(workload))
    for pod in _pods(controlplane, "team-a", 2):
        assert tenants.essential(pod).keys() == {"containers"}


# ------------------------------------------------------------------- matching


@pytest.mark.usefixtures("example_tenants")
@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param(None, id="no annotations"),
        pytest.param({}, id="empty annotations"),
        pytest.param({"example.com/rdma.io": "x", "xrdma.io/network": "roce"}, id="others"),
        pytest.param({NETWORKS: "rdma-roce-r0-v0210"}, id="a selection by hand"),
    ],
)
def test_a_pod_that_never_asked_never_meets_the_webhook(
    controlplane: ControlPlane, webhook: Webhook, annotations: Mapping[str, str] | None
) -> None:
    """Without a key under ``rdma.io/`` the webhook's request counter stands still."""
    calls = webhook.calls()
    status, answer = tenants.post(
        controlplane, "team-a", tenants.pod("plain", annotations), user="alice"
    )
    assert (status, webhook.calls()) == (201, calls), answer
    assert answer["metadata"].get("annotations", {}) == (annotations or {})


@pytest.mark.usefixtures("example_tenants")
def test_a_pod_that_asks_meets_the_webhook_once(
    controlplane: ControlPlane, webhook: Webhook
) -> None:
    """One creation is one call, one decision in the log and in the metrics; an update is none."""
    calls = webhook.calls()
    patched = webhook.metric("rdma_webhook_decisions_total", verdict="Patched", dry_run="false")
    body = tenants.pod("counted", {NETWORK: "roce"})
    assert tenants.post(controlplane, "team-a", body, user="alice")[0] == 201
    controlplane.kubectl("label", "pod", "counted", "-n", "team-a", "a=b", user="alice")
    assert webhook.calls() == calls + 1
    decisions = webhook.metric("rdma_webhook_decisions_total", verdict="Patched", dry_run="false")
    assert decisions == patched + 1
    (line,) = webhook.decisions("team-a", "counted")
    assert (line["event"], line["networks"], line["policy"]) == (
        "pod_patched",
        ["roce"],
        "team-a/default",
    )
