"""Huge pages with their volume; a container that asks for huge pages itself keeps its own.

Source: kubernetes documentation, "Manage HugePages": one page size may use medium ``HugePages``,
several need ``HugePages-<size>`` each.
"""

from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.names import HUGEPAGES_PREFIX
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import AddVolume, MountVolume, RequestResource
from webhook.pods.pod import Container, Pod

VOLUME = "rdma-hugepages"
PATH = "/dev/hugepages"


def inject(
    pod: Pod, intent: Intent
) -> Iterator[RequestResource | AddVolume | MountVolume | Notice]:
    """Yield huge pages for containers with devices."""
    if not intent.hugepages:
        return
    wanted = [size for size, _ in intent.hugepages]
    volumes = _volumes(pod, intent, wanted)
    for one in intent.equipped:
        container = pods.container_at(pod, one.place)
        if not one.has_devices:
            continue
        own = _own(container)
        for size, quantity in intent.hugepages:
            if not own:
                yield RequestResource(one.place, size, quantity)
            elif size not in own:
                yield Notice(f"container {one.name} keeps its own {own[0]}; {size} is not added", 5)
        if not own or set(own) == set(wanted):
            yield from _mounted(one, container, volumes)


def _own(container: Container) -> list[str]:
    """Return the page sizes that a container asks for itself."""
    limits = (container.get("resources") or {}).get("limits") or {}
    return [name for name in limits if name.startswith(HUGEPAGES_PREFIX)]


def _volumes(pod: Pod, intent: Intent, wanted: list[str]) -> list[tuple[str, str, str]]:
    """Return name, medium and path of the volume of each page size.

    A volume that an equipped container has on that path already is shared.
    """
    if len(wanted) == 1:
        places = [(VOLUME, "HugePages", PATH)]
    else:
        sizes = [name.removeprefix(HUGEPAGES_PREFIX) for name in wanted]
        places = [
            (f"{VOLUME}-{size.lower()}", f"HugePages-{size}", f"{PATH}-{size}") for size in sizes
        ]
    known = {
        pods.mount_path(mount): mount.get("name", "")
        for one in intent.equipped
        for mount in pods.container_at(pod, one.place).get("volumeMounts") or ()
    }
    return [
        (known.get(path) or pods.free_volume_name(pod, name), medium, path)
        for name, medium, path in places
    ]


def _mounted(
    one: Equipped, container: Container, volumes: list[tuple[str, str, str]]
) -> Iterator[AddVolume | MountVolume]:
    covered = {pods.mount_path(mount) for mount in container.get("volumeMounts") or ()}
    for name, medium, path in volumes:
        if not covered & {path, "/dev"}:
            yield AddVolume(name, {"emptyDir": {"medium": medium}})
            yield MountVolume(one.place, {"name": name, "mountPath": path})
