"""A kubelet's part of a pod's life, with the real Multus and CNI plugins and no containers.

:class:`KubeletDouble` gives bound pods their devices, calls Multus in a network namespace per pod
and says on the API server that they run. All of it happens in a :class:`Sandbox`.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from tests.harness import build, parts
from tests.harness.api import MERGE_PATCH
from tests.harness.controlplane import ControlPlane
from tests.harness.devices import Allocation, DevicePool, NotEnoughDevices
from tests.harness.lifetime import Started
from tests.harness.multus import Multus, RecordedCall
from tests.harness.rails import Rails, link_name
from tests.harness.running import (
    NODE_ADDRESS,
    AdmissionFailed,
    NotBound,
    PodKey,
    RunningPod,
    SandboxFailed,
    running_status,
)
from tests.harness.sandbox import Sandbox

CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
NETWORK_STATUS = "k8s.v1.cni.cncf.io/network-status"
PING_SECONDS = 1


class KubeletDouble(Started):
    """A node and what runs on it; a context manager, or :meth:`start` and :meth:`stop`."""

    def __init__(
        self,
        controlplane: ControlPlane,
        node: str,
        devices: Mapping[str, Sequence[str]] | None = None,
        *,
        labels: Mapping[str, str] | None = None,
        multus: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe a node; :meth:`start` adds it to the cluster.

        Args:
            controlplane: The cluster, started.
            node: Name of the node.
            devices: Device ids of each extended resource: PCI addresses of a VF pool, ``"0"`` to
                ``"n"`` of a token pool. Their number is the node's capacity.
            labels: Labels of the node.
            multus: Further keys of the Multus configuration, as ``{"namespaceIsolation": True}``.
        """
        self.controlplane = controlplane
        self.node = node
        self._labels = dict(labels or {})
        self._pool = DevicePool(devices or {})
        self._pods: dict[PodKey, RunningPod] = {}
        self._sandbox = Sandbox(controlplane.port)
        self._rails = Rails(self._sandbox)
        self._multus = Multus(self._sandbox, controlplane, multus or {})

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Make the sandbox, define NADs in the cluster, and add the node, Ready.

        Raises:
            BuildError: The plugins, or a system command, are missing and cannot be had.
            SandboxError: No root, or no namespaces here.
        """
        binaries = build.binaries(parts.DATAPLANE)["multus"].parent
        build.ensure_commands()
        self._sandbox.start()
        try:
            self._multus.install(binaries)
            self._write_checkpoint()
            self.controlplane.add_nad_crd()
            self.controlplane.add_node(self.node, self._pool.capacity, self._labels)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Remove the sandbox with all in it, and the node from the cluster if it answers.

        The pods stay as objects: delete them, or their namespace, where it matters.
        """
        self._pods.clear()
        self._rails.forget()
        self._sandbox.stop()
        try:
            self.controlplane.api("DELETE", f"/api/v1/nodes/{self.node}")
        except (OSError, RuntimeError):
            return

    # ------------------------------------------------------------------ rails

    def make_rail(self, name: str, fabric: str | None = None) -> None:
        """Make a host interface, as ``rail0.100``, that stands for a VLAN sub-interface.

        It is one end of a veth pair, so a macvlan can be put on it; the kernel here need not know
        VLANs. Rails reach each other only where they are of one fabric.

        Args:
            name: Name of the interface, at most 15 characters. One that exists stays.
            fabric: Name of the wire it is plugged into; by default a wire of its own.
        """
        self._rails.make(name, fabric)

    # ------------------------------------------------------------------ pods

    def run_pod(self, namespace: str, name: str) -> RunningPod:
        """Start a pod that is bound to this node and return how it runs.

        A pod that already runs is returned as it is. Where it fails, nothing of it is left, and it
        can be tried again.

        Raises:
            NotBound: It is bound to another node, or to none.
            AdmissionFailed: Devices are missing.
            SandboxFailed: Multus or a plugin refused it; the message is theirs.
        """
        if (namespace, name) in self._pods:
            return self._pods[namespace, name]
        pod = self.controlplane.pod(namespace, name)
        bound_to = pod["spec"].get("nodeName")
        if bound_to != self.node:
            raise NotBound(
                f"pod {namespace}/{name}: bound to {bound_to or 'no node'}, not to {self.node}"
            )
        allocations = self._allocate(pod)
        try:
            running = self._attach(pod, allocations)
            self._report_running(pod, running)
        except BaseException:
            self._release(pod["metadata"]["uid"])
            raise
        self._pods[namespace, name] = running
        return running

    def run_bound_pods(self) -> list[RunningPod]:
        """Start every pod that is bound to this node and not ended, and return those started."""
        return [
            self.run_pod(pod["metadata"]["namespace"], pod["metadata"]["name"])
            for pod in self._bound_pods()
            if pod["status"].get("phase", "Pending") == "Pending"
            and "deletionTimestamp" not in pod["metadata"]
            and (pod["metadata"]["namespace"], pod["metadata"]["name"]) not in self._pods
        ]

    def finish_pod(self, namespace: str, name: str, phase: str = "Succeeded") -> None:
        """End a pod that runs, as if its containers had exited, and free what it holds."""
        self._teardown((namespace, name))
        path = f"/api/v1/namespaces/{namespace}/pods/{name}/status"
        self.controlplane.request(
            "PATCH", path, {"status": {"phase": phase}}, content_type=MERGE_PATCH
        )

    def delete_pod(self, namespace: str, name: str) -> None:
        """Detach a pod from its networks, free what it holds, and delete it from the cluster."""
        self._teardown((namespace, name))
        self.controlplane.delete_pod(namespace, name)

    def delete_all(self) -> None:
        """Delete every pod that runs here."""
        for namespace, name in list(self._pods):
            self.delete_pod(namespace, name)

    # -------------------------------------------------------------- questions

    def interfaces(self, pod: RunningPod) -> list[str]:
        """Return the names of the pod's interfaces, without ``lo``, in the order made."""
        links = json.loads(self._in_pod(pod, "ip", "-json", "link", "show").stdout)
        return [link["ifname"] for link in links if link["ifname"] != "lo"]

    def addresses(self, pod: RunningPod, interface: str) -> list[str]:
        """Return the IPv4 addresses of one of the pod's interfaces, without prefix lengths."""
        shown = self._in_pod(pod, "ip", "-json", "-4", "address", "show", "dev", interface)
        infos = [info for link in json.loads(shown.stdout) for info in link.get("addr_info", [])]
        return [info["local"] for info in infos]

    def ping(self, pod: RunningPod, address: str, interface: str | None = None) -> bool:
        """Tell whether the address answers the pod within a second.

        Args:
            pod: Who asks.
            address: Who is asked.
            interface: Send from this interface of the pod; by default as its routes say.
        """
        source = ["-I", interface] if interface else []
        command = ["ping", "-n", "-c", "1", "-w", str(PING_SECONDS), *source, address]
        return self._in_pod(pod, *command, check=False).returncode == 0

    def allocations(self, pod: RunningPod) -> Allocation:
        """Return the device ids that the pod holds: container to resource to ids."""
        return pod.allocations

    def network_status(self, pod: RunningPod) -> list[dict[str, Any]]:
        """Return what Multus wrote back to the pod, parsed."""
        annotations = self.controlplane.pod(*pod.key)["metadata"].get("annotations", {})
        status: list[dict[str, Any]] = json.loads(annotations.get(NETWORK_STATUS, "[]"))
        return status

    def recorded(self, namespace: str, name: str, command: str = "ADD") -> list[RecordedCall]:
        """Return the calls to stand-in plugins for a pod, failed ones too, in their order."""
        return self._multus.recorded(namespace, name, command)

    # ---------------------------------------------------------------- insides

    def _in_pod(
        self, pod: RunningPod, *command: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        inside = ["ip", "netns", "exec", pod.netns] if pod.netns else []
        return self._sandbox.run(*inside, *command, check=check)

    def _bound_pods(self) -> list[dict[str, Any]]:
        path = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{self.node}"
        pods: list[dict[str, Any]] = self.controlplane.request("GET", path)["items"]
        return pods

    def _allocate(self, pod: Mapping[str, Any]) -> Allocation:
        try:
            allocations = self._pool.allocate(pod)
        except NotEnoughDevices as err:
            raise AdmissionFailed(
                f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}: {err}"
            ) from err
        self._write_checkpoint()
        return allocations

    def _release(self, uid: str) -> None:
        self._pool.release(uid)
        self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        self._sandbox.write(CHECKPOINT, self._pool.checkpoint())

    def _attach(self, pod: Mapping[str, Any], allocations: Allocation) -> RunningPod:
        """Make the pod's network namespace and have Multus attach it."""
        meta = pod["metadata"]
        if pod["spec"].get("hostNetwork"):
            return RunningPod(
                meta["namespace"], meta["name"], meta["uid"], "", NODE_ADDRESS, allocations, {}
            )
        netns = link_name("pod", meta["uid"])
        self._sandbox.run("ip", "netns", "add", netns)
        try:
            self._sandbox.run("ip", "-n", netns, "link", "set", "lo", "up")
            result = self._multus.call("ADD", meta, netns)
        except BaseException:
            self._detach(meta, netns)
            raise
        address = result["ips"][0]["address"].partition("/")[0]
        return RunningPod(
            meta["namespace"], meta["name"], meta["uid"], netns, address, allocations, result
        )

    def _detach(self, meta: Mapping[str, Any], netns: str) -> None:
        """Have Multus detach the pod, and remove its namespace whatever Multus says."""
        try:
            self._multus.call("DEL", meta, netns)
        except SandboxFailed:
            pass  # a kubelet would try again; here the namespace takes all of it along
        finally:
            self._sandbox.run("ip", "netns", "delete", netns)

    def _teardown(self, key: PodKey) -> None:
        running = self._pods.pop(key, None)
        if running is None:
            return
        if running.netns:
            meta = {"namespace": running.namespace, "name": running.name, "uid": running.uid}
            self._detach(meta, running.netns)
        self._release(running.uid)

    def _report_running(self, pod: Mapping[str, Any], running: RunningPod) -> None:
        """Say on the API server that the pod and all its containers run."""
        path = f"/api/v1/namespaces/{running.namespace}/pods/{running.name}/status"
        body = {"status": running_status(pod, running)}
        self.controlplane.request("PATCH", path, body, content_type=MERGE_PATCH)
