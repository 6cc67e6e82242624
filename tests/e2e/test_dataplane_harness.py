"""The data plane that the other tests stand on: real Multus, real macvlan, real readers."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.harness.controlplane import ControlPlane
from tests.harness.devices import DevicePool
from tests.harness.kubelet import KubeletDouble
from tests.harness.readers import Readers, Refused
from tests.harness.running import AdmissionFailed, NotBound, SandboxFailed

NETWORKS = "k8s.v1.cni.cncf.io/networks"
RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"
VFS = ["0000:03:00.2", "0000:03:00.3"]

MakeDouble = Callable[..., KubeletDouble]


def add_nad(
    controlplane: ControlPlane, namespace: str, name: str, config: Mapping[str, Any], resource: str
) -> None:
    """Create a NAD; an empty resource leaves the annotation out."""
    annotations = {RESOURCE_NAME: resource} if resource else {}
    controlplane.request(
        "POST",
        f"/apis/k8s.cni.cncf.io/v1/namespaces/{namespace}/network-attachment-definitions",
        {
            "apiVersion": "k8s.cni.cncf.io/v1",
            "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"config": json.dumps({"cniVersion": "0.3.1", "name": name, **config})},
        },
    )


def add_pod(
    controlplane: ControlPlane,
    namespace: str,
    name: str,
    node: str,
    selection: str,
    limits: Mapping[str, str] | None = None,
) -> None:
    """Create a pod and return when the scheduler has bound it to the node."""
    resources = {"limits": dict(limits or {})}
    spec = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "containers": [{"name": "main", "image": "example", "resources": resources}],
    }
    metadata = {"name": name, "annotations": {NETWORKS: selection} if selection else {}}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    controlplane.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)
    assert controlplane.wait_until_bound(namespace, name) == node


def macvlan(master: str) -> dict[str, Any]:
    """Return a macvlan configuration on the host interface, addresses out of one range."""
    ipam = {"type": "whereabouts", "range": "10.40.0.0/24"}
    return {"type": "macvlan", "master": master, "mode": "bridge", "mtu": 9000, "ipam": ipam}


def test_pods_on_one_rail_reach_each_other_and_no_one_else(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """Two pods on rail0.100 ping each other over macvlan; one on rail0.200 gets no answer."""
    double = kubelet_double("ping-node")
    for vlan in ("100", "200"):
        double.make_rail(f"rail0.{vlan}")
        add_nad(controlplane, namespace, f"vlan{vlan}", macvlan(f"rail0.{vlan}"), "")
    pods = {}
    for name, vlan in (("one", "100"), ("two", "100"), ("other", "200")):
        selection = json.dumps([{"name": f"vlan{vlan}", "interface": "rdma0"}])
        add_pod(controlplane, namespace, name, "ping-node", selection)
        pods[name] = double.run_pod(namespace, name)
        assert double.interfaces(pods[name]) == ["eth0", "rdma0"]
    (address,) = double.addresses(pods["two"], "rdma0")
    assert double.ping(pods["one"], address)
    assert double.ping(pods["one"], address, interface="rdma0")
    assert not double.ping(pods["other"], address, interface="rdma0")
    assert not double.ping(pods["other"], address)


def test_rails_of_one_fabric_reach_each_other(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """Two host interfaces on one wire are one network: what is apart is so by the wire alone."""
    double = kubelet_double("fabric-node")
    pods = []
    for rail in ("nic0.100", "nic1.100"):
        double.make_rail(rail, fabric="vlan 100")
        name = rail.replace(".", "-")
        add_nad(controlplane, namespace, name, macvlan(rail), "")
        add_pod(controlplane, namespace, name, "fabric-node", f"{name}@rdma0")
        pods.append(double.run_pod(namespace, name))
    (address,) = double.addresses(pods[1], "rdma0")
    assert double.ping(pods[0], address, interface="rdma0")


@pytest.mark.parametrize(
    ("config", "types"),
    [
        pytest.param({"type": "ipoib", "master": "ibs1f0"}, ["ipoib"], id="IPoIB"),
        pytest.param({"type": "ib-sriov", "pkey": "0x0011"}, ["ib-sriov"], id="InfiniBand VF"),
        pytest.param({"type": "host-device"}, ["host-device"], id="whole device"),
        pytest.param({"type": "ipvlan", "master": "eth9.100"}, ["ipvlan"], id="IPVLAN"),
        pytest.param(
            {"plugins": [{"type": "sriov"}, {"type": "rdma"}]}, ["sriov", "rdma"], id="a chain"
        ),
    ],
)
def test_stand_ins_record_and_attach(
    controlplane: ControlPlane,
    namespace: str,
    kubelet_double: MakeDouble,
    config: dict[str, Any],
    types: list[str],
) -> None:
    """A type whose hardware is not here is recorded, and its interface appears with an address."""
    ipam = {"type": "nv-ipam", "poolName": "pool-a"}
    config.get("plugins", [config])[0]["ipam"] = ipam
    double = kubelet_double("stand-in-node", {"example.com/vf": VFS})
    add_nad(controlplane, namespace, "net", config, "example.com/vf")
    limits = {"example.com/vf": "1"}
    add_pod(controlplane, namespace, "a", "stand-in-node", "net@rdma0", limits)
    running = double.run_pod(namespace, "a")
    calls = [call for call in double.recorded(namespace, "a") if call.type != "nv-ipam"]
    assert [call.type for call in calls] == types
    assert {call.config["deviceID"] for call in calls} == {VFS[0]}
    assert len(double.addresses(running, "rdma0")) == 1
    double.delete_pod(namespace, "a")
    assert types[0] in {call.type for call in double.recorded(namespace, "a", command="DEL")}


def test_a_running_pod_is_reported_and_a_deleted_one_leaves_nothing(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """The API server hears of phase, address and networks; deletion frees devices and names."""
    double = kubelet_double("life-node", {"rdma/hca": ["0"]})
    for name in ("first", "second"):
        add_pod(controlplane, namespace, name, "life-node", "", {"rdma/hca": "1"})
        (running,) = double.run_bound_pods()
        pod = controlplane.wait_for_phase(namespace, name, "Running")
        assert pod["status"]["podIP"] == running.address
        assert double.ping(running, running.address)
        assert double.network_status(running)[0]["interface"] == "eth0"
        assert double.allocations(running) == {"main": {"rdma/hca": ("0",)}}
        double.delete_pod(namespace, name)
        assert controlplane.find(f"/api/v1/namespaces/{namespace}/pods/{name}") is None


def test_the_plugin_gets_exactly_the_devices_that_were_allocated(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """A NAD with a resourceName: Multus hands each allocated VF to one attachment."""
    double = kubelet_double("vf-node", {"nvidia.com/roce_r0": VFS})
    add_nad(controlplane, namespace, "vf", {"type": "sriov", "vlan": 210}, "nvidia.com/roce_r0")
    selection = json.dumps([{"name": "vf", "interface": f"rdma{i}"} for i in range(2)])
    add_pod(controlplane, namespace, "a", "vf-node", selection, {"nvidia.com/roce_r0": "2"})
    running = double.run_pod(namespace, "a")
    calls = double.recorded(namespace, "a")
    assert [(call.type, call.interface) for call in calls] == [
        ("sriov", "rdma0"),
        ("sriov", "rdma1"),
    ]
    allocated = running.allocations["main"]["nvidia.com/roce_r0"]
    assert [call.config["deviceID"] for call in calls] == sorted(allocated) == VFS
    assert [call.config["vlan"] for call in calls] == [210, 210]
    assert double.interfaces(running) == ["eth0", "rdma0", "rdma1"]


def test_a_pod_without_the_device_that_its_network_needs_fails(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """A selection without the resource: the pod fails as on a real node, and leaves nothing."""
    double = kubelet_double("lack-node", {"nvidia.com/roce_r0": VFS})
    add_nad(controlplane, namespace, "vf", {"type": "sriov"}, "nvidia.com/roce_r0")
    add_pod(controlplane, namespace, "a", "lack-node", "vf@rdma0")
    with pytest.raises(SandboxFailed, match="VF pci addr is required"):
        double.run_pod(namespace, "a")
    assert controlplane.pod(namespace, "a")["status"]["phase"] == "Pending"
    assert "deviceID" not in double.recorded(namespace, "a")[0].config


def test_a_selection_of_an_unknown_network_fails_the_pod(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """Multus refuses a pod whose NAD does not exist."""
    double = kubelet_double("unknown-node")
    add_pod(controlplane, namespace, "a", "unknown-node", "nowhere@rdma0")
    with pytest.raises(SandboxFailed, match="cannot find a network-attachment-definition"):
        double.run_pod(namespace, "a")


def test_a_pod_of_another_node_is_not_run(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """The double runs only what the scheduler bound to its node."""
    double = kubelet_double("own-node")
    controlplane.add_node("foreign-node", {})
    add_pod(controlplane, namespace, "a", "foreign-node", "")
    with pytest.raises(NotBound, match="bound to foreign-node, not to own-node"):
        double.run_pod(namespace, "a")


def test_devices_that_are_gone_fail_the_pod(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """A pod bound past the scheduler gets no device that another pod holds."""
    double = kubelet_double("full-node", {"rdma/hca": ["0"]})
    add_pod(controlplane, namespace, "a", "full-node", "", {"rdma/hca": "1"})
    double.run_pod(namespace, "a")
    resources = {"limits": {"rdma/hca": "1"}}
    container = {"name": "main", "image": "example", "resources": resources}
    spec = {"nodeName": "full-node", "containers": [container]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": spec}
    controlplane.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)
    with pytest.raises(AdmissionFailed, match="rdma/hca: got 0 free devices, want 1"):
        double.run_pod(namespace, "b")


def test_two_doubles_live_beside_each_other(
    controlplane: ControlPlane, namespace: str, kubelet_double: MakeDouble
) -> None:
    """Nodes have interfaces, checkpoints and address pools of their own, under equal names."""
    for node in ("twin-a", "twin-b"):
        double = kubelet_double(node, {"rdma/hca": ["0"]})
        double.make_rail("rail0.100")
        add_pod(controlplane, namespace, node, node, "", {"rdma/hca": "1"})
        assert double.run_pod(namespace, node).allocations == {"main": {"rdma/hca": ("0",)}}


def test_init_containers_give_their_devices_to_the_app() -> None:
    """A plain init container's device is used again, and is not what Multus sees."""
    pool = DevicePool({"rdma/hca": ["0", "1"]})
    limits = {"limits": {"rdma/hca": "1"}}
    spec = {
        "initContainers": [{"name": "setup", "resources": limits}],
        "containers": [{"name": "main", "resources": limits}],
    }
    assert pool.allocate({"metadata": {"uid": "u"}, "spec": spec}) == {"main": {"rdma/hca": ("0",)}}
    entries = json.loads(pool.checkpoint())["Data"]["PodDeviceEntries"]
    assert [(entry["ContainerName"], entry["DeviceIDs"]) for entry in entries] == [
        ("main", {"-1": ["0"]})
    ]
    pool.release("u")
    assert json.loads(pool.checkpoint())["Data"]["PodDeviceEntries"] == []


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        pytest.param("", [], id="nothing selects nothing"),
        pytest.param("a, b/c@rdma0", [("team-a", "a", ""), ("b", "c", "rdma0")], id="short form"),
        pytest.param(
            '[{"name":"a","namespace":"b","Namespace":"c"}]',
            [("c", "a", "")],
            id="the last spelling wins",
        ),
    ],
)
def test_readers_tell_what_multus_selects(
    readers: Readers, annotation: str, expected: list[tuple[str, str, str]]
) -> None:
    """The answer is that of Multus's own parser."""
    elements = readers.selection("team-a", annotation)
    assert isinstance(elements, list)
    found = [(e["namespace"], e["name"], e.get("interface", "")) for e in elements]
    assert found == expected


@pytest.mark.parametrize(
    ("annotation", "is_panic"),
    [
        pytest.param("a/b/c", False, id="too many slashes"),
        pytest.param('{"name":"a"}', False, id="no list"),
        pytest.param("[null]", True, id="a null element crashes it"),
    ],
)
def test_readers_tell_what_multus_refuses(
    readers: Readers, annotation: str, *, is_panic: bool
) -> None:
    """A refusal is a value, and a crash of the parser does not end the readers."""
    answer = readers.selection("team-a", annotation)
    assert isinstance(answer, Refused)
    assert answer.is_panic is is_panic
    assert readers.selection("team-a", "fine") != []


@pytest.mark.parametrize(
    ("name", "vlan"),
    [
        pytest.param('"name":"n",', 999, id="as written, the last spelling wins"),
        pytest.param("", 210, id="a name is filled in, which sorts the keys"),
    ],
)
def test_readers_tell_what_a_nad_means(readers: Readers, name: str, vlan: int) -> None:
    """A NAD is read with Go's rules: letter case folds."""
    settings = '"cniVersion":"0.3.1","type":"sriov","ipam":{"type":"static"},"vlan":210,"Vlan":999'
    config = f"{{{name}{settings}}}"
    nad = {"metadata": {"name": "n", "namespace": "team-a"}, "spec": {"config": config}}
    network = readers.nad(nad)
    assert isinstance(network, dict)
    (plugin,) = network["plugins"]
    assert (network["name"], network["isList"]) == ("n", False)
    assert (plugin["type"], plugin["ipamType"]) == ("sriov", "static")
    assert plugin["fields"]["vlan"] == vlan
    assert plugin["config"]["Vlan"] == 999


def test_readers_read_lists_and_refuse_nonsense(readers: Readers) -> None:
    """A list shows all its plugins; what does not load is refused with libcni's words."""
    plugins = [{"type": "sriov", "vlan": 5}, {"type": "rdma"}]
    text = json.dumps({"cniVersion": "0.3.1", "name": "n", "plugins": plugins})
    network = readers.nad({"metadata": {"name": "n"}, "spec": {"config": text}})
    assert isinstance(network, dict)
    assert [plugin["type"] for plugin in network["plugins"]] == ["sriov", "rdma"]
    for config in ("", "{", '{"cniVersion":"0.3.1","name":"n"}'):
        nad = {"metadata": {"name": "n"}, "spec": {"config": config}}
        assert isinstance(readers.nad(nad), Refused)
