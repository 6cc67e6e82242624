"""Two tenants on one network: other attachments, other partitions, and no way across.

Real Multus and macvlan; where hardware is needed, what Multus hands to the plugin is recorded.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from tests.harness import tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.kubelet import KubeletDouble
from tests.harness.running import RunningPod
from tests.harness.tenants import NETWORK, Tenant
from tests.harness.webhook import EXAMPLES, documents

MakeDouble = Callable[..., KubeletDouble]
MakeTenant = Callable[..., Tenant]

HOST_INTERFACES = ("ens1f0np0", "ens2f0np0")
"""The rails r0 and r1 of the example network roce."""
NODE = "rdma-node"
HOSTNAME = "kubernetes.io/hostname"


def _functions(bus: str) -> list[str]:
    """PCI addresses of eight virtual functions."""
    return [f"0000:{bus}:00.{function}" for function in range(8)]


DEVICES: Mapping[str, Sequence[str]] = {
    "nvidia.com/gpu": [f"GPU-{number}" for number in range(64)],
    "rdma/hca_r0": [str(number) for number in range(100)],
    "rdma/hca_r1": [str(number) for number in range(100)],
    "rdma/hca_storage": [str(number) for number in range(100)],
    "rdma/hca": [str(number) for number in range(100)],
    "nvidia.com/ib_r0": _functions("03"),
    "nvidia.com/ib_r1": _functions("04"),
    "nvidia.com/roce_vf_r0": _functions("05"),
    "nvidia.com/roce_vf_r1": _functions("06"),
    "vpc.amazonaws.com/efa": [f"efa-{number}" for number in range(32)],
}
"""A node that has what every example network hands out."""
HUGE_PAGES = {"hugepages-2Mi": "64Gi"}


@pytest.fixture
def node(kubelet_double: MakeDouble) -> KubeletDouble:
    """Give a node with all devices, and the host interfaces of VLANs 210 and 220."""
    double = kubelet_double(NODE, DEVICES)
    double.controlplane.add_node(NODE, HUGE_PAGES)
    for vlan in (210, 220):
        _make_rails(double, vlan)
    return double


def _make_rails(double: KubeletDouble, vlan: int, fabric: str = "") -> None:
    """Make each rail's VLAN sub-interface; rails of one VLAN meet on one wire, as on a leaf."""
    for interface in HOST_INTERFACES:
        double.make_rail(f"{interface}.{vlan}", fabric or f"{interface} VLAN {vlan}")


def _run(double: KubeletDouble, namespace: str, user: str, body: Document) -> RunningPod:
    """Create a pod as its user, have the scheduler bind it to the double's node, and run it."""
    cluster = double.controlplane
    body["spec"].setdefault("nodeSelector", {})[HOSTNAME] = double.node
    status, answer = tenants.post(cluster, namespace, body, user=user)
    assert status == 201, answer
    name = body["metadata"]["name"]
    assert cluster.wait_until_bound(namespace, name) == double.node
    return double.run_pod(namespace, name)


def _example(name: str) -> Document:
    (pod,) = documents(EXAMPLES / "pods" / f"{name}.yaml")
    return pod


def _interfaces(double: KubeletDouble, running: RunningPod) -> dict[str, str]:
    """Interface to NAD, of all but the default network, as Multus wrote them back to the pod."""
    return {one["interface"]: one["name"] for one in double.network_status(running)[1:]}


# ---------------------------------------------------------------------- RoCE


@pytest.mark.usefixtures("example_tenants")
def test_pods_of_one_tenant_reach_each_other_and_no_other_tenants(node: KubeletDouble) -> None:
    """The same annotation in team-a and team-b is VLAN 210 and VLAN 220, on both rails."""
    pods = {}
    for name, namespace, user in (
        ("one", "team-a", "alice"),
        ("two", "team-a", "alice"),
        ("other", "team-b", "bob"),
    ):
        body = tenants.pod(name, {NETWORK: "roce"}, {"nvidia.com/gpu": "1"})
        pods[name] = _run(node, namespace, user, body)
        assert node.interfaces(pods[name]) == ["eth0", "rdma0", "rdma1"]
    assert _interfaces(node, pods["one"]) == _interfaces(node, pods["two"])
    assert _interfaces(node, pods["one"]) == {
        f"rdma{rail}": f"team-a/rdma-roce-r{rail}-v0210" for rail in range(2)
    }
    assert _interfaces(node, pods["other"]) == {
        f"rdma{rail}": f"team-b/rdma-roce-r{rail}-v0220" for rail in range(2)
    }
    for rail in ("rdma0", "rdma1"):
        (address,) = node.addresses(pods["two"], rail)
        assert node.ping(pods["one"], address, interface=rail)
        assert node.ping(pods["one"], address)
        assert not node.ping(pods["other"], address, interface=rail)
        assert not node.ping(pods["other"], address)


@pytest.mark.parametrize(
    ("fabric", "reaches"),
    [
        pytest.param("", False, id="a wire for each VLAN"),
        pytest.param("one wire", True, id="the VLANs are one wire"),
    ],
)
def test_only_the_partition_keeps_tenants_apart(
    controlplane: ControlPlane,
    kubelet_double: MakeDouble,
    make_tenant: MakeTenant,
    fabric: str,
    *,
    reaches: bool,
) -> None:
    """Tenants with addresses of one range do not meet, and would, if their VLANs were one."""
    double = kubelet_double(NODE, DEVICES)
    running = []
    for user in ("alice", "bob"):
        tenant = make_tenant("roce", user=user)
        _share_addresses(controlplane, tenant)
        _make_rails(double, tenant.number, fabric)
        body = tenants.pod("main", {NETWORK: "roce:1"})
        running.append(_run(double, tenant.namespace, user, body))
    (address,) = double.addresses(running[1], "rdma0")
    (own,) = double.addresses(running[0], "rdma0")
    assert own.rpartition(".")[0] == address.rpartition(".")[0]
    assert double.ping(running[0], address, interface="rdma0") is reaches


def _share_addresses(cluster: ControlPlane, tenant: Tenant) -> None:
    """Give the tenant's attachments one address range that all tenants share."""
    path = f"/apis/k8s.cni.cncf.io/v1/namespaces/{tenant.namespace}/network-attachment-definitions"
    for nad in cluster.request("GET", path)["items"]:
        config = tenants.config(nad)
        config["ipam"] = {"type": "whereabouts", "range": "10.70.0.0/24"}
        cluster.request(
            "PUT", f"{path}/{nad['metadata']['name']}", tenants.with_config(nad, config)
        )


# ------------------------------------------------------------- whole devices


@pytest.mark.usefixtures("example_tenants")
@pytest.mark.parametrize(
    ("user", "network", "kind", "resource", "partition"),
    [
        pytest.param(
            "alice", "roce-vf:4", "sriov", "roce_vf", {"vlan": 210}, id="Ethernet, team-a"
        ),
        pytest.param("bob", "roce-vf:4", "sriov", "roce_vf", {"vlan": 220}, id="Ethernet, team-b"),
        pytest.param(
            "alice",
            "train-ib:8",
            "ib-sriov",
            "ib",
            {"pkey": "0x0011", "ibKubernetesEnabled": True},
            id="InfiniBand, team-a",
        ),
        pytest.param(
            "bob",
            "train-ib",
            "ib-sriov",
            "ib",
            {"pkey": "0x0022", "ibKubernetesEnabled": True},
            id="InfiniBand, team-b",
        ),
    ],
)
def test_each_attachment_gets_a_function_of_its_own_in_the_tenants_partition(
    node: KubeletDouble,
    user: str,
    network: str,
    kind: str,
    resource: str,
    partition: Mapping[str, Any],
) -> None:
    """Multus finds exactly the devices that the patch asked for, and the plugin gets the number."""
    namespace = node.controlplane.tenants[user]
    body = tenants.pod("whole", {NETWORK: network}, {"nvidia.com/gpu": "1"})
    running = _run(node, namespace, user, body)
    count = int(network.partition(":")[2] or 2)
    calls = [one for one in node.recorded(namespace, "whole") if one.type == kind]
    assert [one.interface for one in calls] == [f"rdma{number}" for number in range(count)]
    assert node.interfaces(running) == ["eth0", *(one.interface for one in calls)]
    assert list(_interfaces(node, running)) == [one.interface for one in calls]
    for call in calls:
        assert {key: call.config[key] for key in partition} == partition
        assert isinstance(call.config.get("vlan", 0), int)
    allocated = {
        rail: running.allocations["main"][f"nvidia.com/{resource}_{rail}"] for rail in ("r0", "r1")
    }
    for number, rail in enumerate(allocated):
        on_rail = [one.config["deviceID"] for one in calls[number::2]]
        assert sorted(on_rail) == sorted(allocated[rail])
    assert len({one.config["deviceID"] for one in calls}) == count


# ------------------------------------------------------------------ all modes


@pytest.mark.usefixtures("example_tenants")
@pytest.mark.parametrize(
    ("name", "types"),
    [
        pytest.param("macvlan", [], id="Macvlan"),
        pytest.param("ipvlan", ["ipvlan"], id="IPVLAN"),
        pytest.param("sriov-ethernet", ["sriov"], id="SRIOVEthernet"),
        pytest.param("sriov-infiniband", ["ib-sriov"] * 2, id="SRIOVInfiniBand"),
        pytest.param("two-networks", ["ib-sriov"] * 2, id="two networks"),
        pytest.param("host-network", [], id="HostNetwork"),
        pytest.param("device-only", [], id="DeviceOnly"),
    ],
)
def test_an_example_pod_runs_with_what_its_status_says(
    node: KubeletDouble, name: str, types: list[str]
) -> None:
    """Interfaces and devices that the node gives are those of the status annotation."""
    body = _example(name)
    namespace = body["metadata"]["namespace"]
    user = {place: user for user, place in node.controlplane.tenants.items()}[namespace]
    running = _run(node, namespace, user, body)
    said = tenants.status(node.controlplane.pod(namespace, name))
    held = {
        resource: len(ids)
        for resources in running.allocations.values()
        for resource, ids in resources.items()
        if resource != "nvidia.com/gpu"
    }
    assert held == said["resources"]
    expected = said.get("interfaces", [])
    if running.netns:
        assert node.interfaces(running) == ["eth0", *expected]
        assert list(_interfaces(node, running)) == expected
    else:
        assert expected == []
    plugins = [one.type for one in node.recorded(namespace, name)]
    assert [kind for kind in plugins if kind not in {"whereabouts", "nv-ipam"}] == types
