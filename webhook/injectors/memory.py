"""Huge pages, and warnings where NUMA alignment cannot happen."""

from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.quantity import whole
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import AddVolume, MountVolume, RequestResource
from webhook.pods.pod import Container, Pod, Volume

VOLUME = "rdma-hugepages"
PATH = "/dev/hugepages"


def inject(
    pod: Pod, intent: Intent
) -> Iterator[RequestResource | AddVolume | MountVolume | Notice]:
    """Yield huge pages for containers with devices, and what stands in the way of alignment."""
    for one in intent.equipped:
        if not one.has_devices:
            continue
        container = pods.container_at(pod, one.place)
        if intent.hugepages:
            yield from _hugepages(pod, one, container, intent)
        yield from _unaligned(one, container, intent)


def _hugepages(
    pod: Pod, one: Equipped, container: Container, intent: Intent
) -> Iterator[RequestResource | AddVolume | MountVolume]:
    limits = (container.get("resources") or {}).get("limits") or {}
    for size, quantity in intent.hugepages:
        yield RequestResource(one.place, size, str(limits.get(size, quantity)))
    paths = {pods.mount_path(mount) for mount in container.get("volumeMounts") or ()}
    if not paths & {PATH, "/dev"}:
        name, _ = pods.volume_name(pod, VOLUME, _is_hugepages)
        yield AddVolume(name, {"emptyDir": {"medium": "HugePages"}})
        yield MountVolume(one.place, {"name": name, "mountPath": PATH})


def _is_hugepages(volume: Volume) -> bool:
    return (volume.get("emptyDir") or {}).get("medium") == "HugePages"


def _unaligned(one: Equipped, container: Container, intent: Intent) -> Iterator[Notice]:
    """Warn a container that pins CPUs for its accelerators where the kubelet cannot align them.

    Source: kubelet's static CPU manager pins whole CPUs of Guaranteed pods; the shared device
    plugin hands out tokens without a topology hint.
    """
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    cpu = limits.get("cpu", requests.get("cpu"))
    if cpu is None or not any("/" in name for name in limits if name not in dict(one.resources)):
        return
    if limits.get("cpu") != requests.get("cpu", limits.get("cpu")) or "memory" not in limits:
        problem = "is not Guaranteed (limits equal to requests for cpu and memory)"
    elif whole(str(cpu)) is None:
        problem = f"asks for {cpu} CPUs, no whole number"
    elif intent.shares_hca:
        problem = "gets a token without a topology hint"
    else:
        return
    yield Notice(f"no NUMA alignment: container {one.name} {problem}", 9)
