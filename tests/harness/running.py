"""A pod that runs on a node, what a kubelet reports of it, and why one does not run."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.harness.devices import Allocation

NODE_ADDRESS = "192.0.2.1"

PodKey = tuple[str, str]
"""Namespace and name."""


class PodFailed(Exception):
    """A pod cannot run on the node, as a kubelet would say in an event."""


class NotBound(PodFailed):
    """The pod is not bound to this node."""


class AdmissionFailed(PodFailed):
    """The node has not the devices that the pod asks for (``UnexpectedAdmissionError``)."""


class SandboxFailed(PodFailed):
    """Multus, or a plugin that it called, refused the pod (``FailedCreatePodSandBox``)."""


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod that the double has started.

    Attributes:
        namespace: Its namespace.
        name: Its name.
        uid: Its uid; also its container id for the plugins.
        netns: Name of its network namespace inside the sandbox; empty with ``hostNetwork``.
        address: Its address on the default network.
        allocations: Container name to resource to device ids.
        result: The CNI result that Multus returned.
    """

    namespace: str
    name: str
    uid: str
    netns: str
    address: str
    allocations: Allocation
    result: Mapping[str, Any]

    @property
    def key(self) -> PodKey:
        """Namespace and name."""
        return self.namespace, self.name


def running_status(pod: Mapping[str, Any], running: RunningPod) -> dict[str, Any]:
    """Return the status of the pod from now on: it runs, and so do all its containers."""
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"]
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": "Running",
        "startTime": now,
        "hostIP": NODE_ADDRESS,
        "podIP": running.address,
        "podIPs": [{"ip": running.address}],
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": now}
            for kind in ["PodScheduled", *conditions]
        ],
        "containerStatuses": containers,
    }
