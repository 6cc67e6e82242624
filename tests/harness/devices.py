"""Which device ids each container of a pod holds, as a kubelet's device manager decides it.

Pure: takes pods as JSON, gives allocations and the kubelet's checkpoint document.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Allocation = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Container name to resource to device ids."""


class NotEnoughDevices(Exception):
    """The node has fewer free devices than a container asks for (UnexpectedAdmissionError)."""


@dataclass(frozen=True, slots=True)
class Held:
    """What one pod holds.

    Attributes:
        uid: The pod's uid.
        visible: What the pod-resources API shows: app containers and native sidecars.
        taken: Every device that is not free, by resource, plain init containers' included.
    """

    uid: str
    visible: Allocation
    taken: Mapping[str, frozenset[str]]


class DevicePool:
    """The devices of one node and who holds them."""

    def __init__(self, devices: Mapping[str, Sequence[str]]) -> None:
        """Offer the device ids of each extended resource, handed out in the order given."""
        self.devices = {resource: tuple(ids) for resource, ids in devices.items()}
        self._held: dict[str, Held] = {}

    @property
    def capacity(self) -> dict[str, str]:
        """Resource to amount, as a node's status has it."""
        return {resource: str(len(ids)) for resource, ids in self.devices.items()}

    def allocate(self, pod: Mapping[str, Any]) -> Allocation:
        """Hand devices to the pod's containers and return who got which.

        A plain init container's devices are used again by the app containers, as in the kubelet.
        Resources that the node does not offer (cpu, memory, …) are not looked at.

        Raises:
            NotEnoughDevices: Naming the container; nothing is held then.
        """
        uid = pod["metadata"]["uid"]
        free = {resource: self._free(resource) for resource in self.devices}
        spare: dict[str, list[str]] = {resource: [] for resource in self.devices}
        visible: dict[str, dict[str, tuple[str, ...]]] = {}
        for container, is_plain_init in _containers(pod):
            given = {
                resource: _choose(container["name"], resource, spare[resource] + free[resource], n)
                for resource, n in self._wanted(container)
            }
            for resource, ids in given.items():
                free[resource] = [d for d in free[resource] if d not in ids]
                kept = [d for d in spare[resource] if d not in ids]
                spare[resource] = [*ids, *kept] if is_plain_init else kept
            if given and not is_plain_init:
                visible[container["name"]] = given
        taken = {r: frozenset(self._free(r)) - frozenset(free[r]) for r in self.devices}
        self._held[uid] = Held(uid, visible, taken)
        return visible

    def release(self, uid: str) -> None:
        """Free what the pod holds, if anything."""
        self._held.pop(uid, None)

    def checkpoint(self) -> str:
        """Return the kubelet's device checkpoint, which Multus reads where no socket is.

        It lists what the pod-resources API would: Multus is to see the same by either way.
        """
        entries = [
            {
                "PodUID": held.uid,
                "ContainerName": container,
                "ResourceName": resource,
                "DeviceIDs": {"-1": sorted(ids)},
                "AllocResp": "",
            }
            for held in self._held.values()
            for container, resources in held.visible.items()
            for resource, ids in resources.items()
        ]
        registered = {resource: list(ids) for resource, ids in self.devices.items()}
        data = {"PodDeviceEntries": entries, "RegisteredDevices": registered}
        return json.dumps({"Data": data, "Checksum": 0})

    def _free(self, resource: str) -> list[str]:
        taken = {device for held in self._held.values() for device in held.taken[resource]}
        return [device for device in self.devices[resource] if device not in taken]

    def _wanted(self, container: Mapping[str, Any]) -> Iterable[tuple[str, int]]:
        limits = (container.get("resources") or {}).get("limits") or {}
        return [(r, _count(amount)) for r, amount in limits.items() if r in self.devices]


def _choose(container: str, resource: str, ids: Sequence[str], amount: int) -> tuple[str, ...]:
    if len(ids) < amount:
        raise NotEnoughDevices(
            f"container {container}: {resource}: got {len(ids)} free devices, want {amount}"
        )
    return tuple(ids[:amount])


def _count(amount: str) -> int:
    """Return the number in a whole quantity: the API server writes 1000 as ``1k``."""
    thousands = "kMGT".find(amount[-1]) + 1
    return int(amount[:-1]) * 1000**thousands if thousands else int(amount)


def _containers(pod: Mapping[str, Any]) -> Iterable[tuple[Mapping[str, Any], bool]]:
    """Yield each container in the order the kubelet admits them, and if it is a plain init one."""
    for container in pod["spec"].get("initContainers") or []:
        yield container, container.get("restartPolicy") != "Always"
    for container in pod["spec"]["containers"]:
        yield container, False
