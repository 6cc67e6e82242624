"""Shared memory at /dev/shm, one volume for all equipped containers."""

from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.quantity import parse
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import AddVolume, MountVolume
from webhook.pods.pod import Container, Pod, VolumeMount

VOLUME = "rdma-shm"
PATH = "/dev/shm"  # noqa: S108 the path in the container is the point
_COVERING = frozenset({PATH, "/dev"})


def inject(pod: Pod, intent: Intent) -> Iterator[AddVolume | MountVolume | Notice]:
    """Yield the memory volume and its mounts, where nothing covers /dev/shm already."""
    if not intent.shared_memory:
        return
    if pods.spec(pod).get("hostIPC"):
        yield Notice("hostIPC: /dev/shm is the node's own, no memory volume is added", 4)
        return
    bare: list[Equipped] = []
    for one in intent.equipped:
        cover = _cover(pods.container_at(pod, one.place))
        if cover is None:
            bare.append(one)
        else:
            yield from _doubtful(pod, one, cover)
    if not bare:
        return
    name, is_new = _volume(pod, intent)
    if is_new:
        source = {"medium": "Memory", "sizeLimit": intent.shared_memory}
        yield AddVolume(name, {"emptyDir": source})
        yield from _too_large(pod, bare, intent.shared_memory)
    for one in bare:
        yield MountVolume(one.place, {"name": name, "mountPath": PATH})


def _cover(container: Container) -> VolumeMount | None:
    """Return the mount that covers /dev/shm, or None."""
    for mount in container.get("volumeMounts") or ():
        if pods.mount_path(mount) in _COVERING:
            return mount
    return None


def _medium(pod: Pod, name: str | None) -> str | None:
    """Return the medium of an emptyDir volume; None where the volume is none."""
    for volume in pods.spec(pod).get("volumes") or ():
        if volume.get("name") == name and volume.get("emptyDir") is not None:
            return (volume.get("emptyDir") or {}).get("medium") or ""
    return None


def _doubtful(pod: Pod, one: Equipped, cover: VolumeMount) -> Iterator[Notice]:
    if cover.get("readOnly"):
        yield Notice(f"container {one.name}: /dev/shm is read-only; NCCL needs to write there", 4)
    elif _medium(pod, cover.get("name")) != "Memory":
        yield Notice(f"container {one.name}: /dev/shm is no memory volume and will be slow", 4)


def _volume(pod: Pod, intent: Intent) -> tuple[str, bool]:
    """Return the name of the volume to mount, and whether it is to be added.

    A memory volume that another equipped container has at /dev/shm is shared, whether its author
    or an earlier call put it there.
    """
    for one in intent.equipped:
        cover = _cover(pods.container_at(pod, one.place))
        if cover and pods.mount_path(cover) == PATH and _shareable(cover):
            name = cover.get("name", "")
            if _medium(pod, name) == "Memory":
                return name, False
    return pods.free_volume_name(pod, VOLUME), True


def _shareable(cover: VolumeMount) -> bool:
    return not (cover.get("readOnly") or cover.get("subPath") or cover.get("subPathExpr"))


def _too_large(pod: Pod, bare: list[Equipped], size: str) -> Iterator[Notice]:
    """Warn where the volume is not below a memory limit: its pages count against it."""
    whole = ((pods.spec(pod).get("resources") or {}).get("limits") or {}).get("memory")
    for one in bare:
        limits = (pods.container_at(pod, one.place).get("resources") or {}).get("limits") or {}
        limit = limits.get("memory", whole)
        value = parse(str(limit)) if limit is not None else None
        if value is not None and (parse(size) or 0) >= value:
            yield Notice(
                f"container {one.name}: /dev/shm of {size} is not below the memory limit {limit}; "
                "its pages count against it",
                3,
            )
            return
