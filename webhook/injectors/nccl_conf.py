"""Defaults by ``/etc/nccl.conf``, where ``env`` would override what a container gets elsewhere.

A container with ``envFrom`` may get a name from a ConfigMap, over which ``env`` would win; the
ranks of an MPI worker get no container environment at all. The file loses to the environment.

Source: kubernetes/api ``core/v1/types.go`` (``env`` goes before ``envFrom``); NVIDIA/nccl
``misc/param.cc`` (``/etc/nccl.conf``).
"""

from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.names import ANNOTATION_NCCL_CONF
from policies.refusal import Notice, listed
from webhook.pods import pod as pods
from webhook.pods.edits import AddVolume, MountVolume, SetAnnotation
from webhook.pods.pod import Container, Pod

VOLUME = "rdma-nccl-conf"
FILE = "nccl.conf"
PATH = f"/etc/{FILE}"
MAX_BYTES = 4096
"""Longest file: all annotations of an object share 256 KiB."""


def inject(pod: Pod, intent: Intent) -> Iterator[SetAnnotation | AddVolume | MountVolume | Notice]:
    """Yield the file for containers that get their defaults by it."""
    by_file = [one for one in intent.equipped if one.env_by_file]
    if not by_file or not intent.env:
        return
    text, left_out = _text(intent)
    if left_out:
        text_of = f"container {by_file[0].name} gets defaults by {PATH}, which cannot hold "
        yield Notice(text_of + listed(left_out, most=3), 4)
    if text:
        yield SetAnnotation(ANNOTATION_NCCL_CONF, text)
        yield from _mounted(pod, by_file)


def _text(intent: Intent) -> tuple[str, list[str]]:
    """Return the file's text, and the names of defaults that have no place in it."""
    forced = dict(intent.forced_env)
    text = ""
    left_out: list[str] = []
    for name, value in intent.env:
        line = f"{name}={value}\n"
        if name in forced:
            continue
        if (
            name.startswith("NCCL_")
            and "\n" not in value
            and len((text + line).encode()) <= MAX_BYTES
        ):
            text += line
        else:
            left_out.append(name)
    return text, left_out


def _mounted(pod: Pod, by_file: list[Equipped]) -> Iterator[AddVolume | MountVolume]:
    bare = [one for one in by_file if not _has_file(pods.container_at(pod, one.place))]
    if not bare:
        return
    name, is_there = _volume(pod)
    if not is_there:
        field = f"metadata.annotations['{ANNOTATION_NCCL_CONF}']"
        items = [{"path": FILE, "fieldRef": {"fieldPath": field}}]
        yield AddVolume(name, {"downwardAPI": {"items": items}})
    for one in bare:
        mount = {"name": name, "mountPath": PATH, "subPath": FILE, "readOnly": True}
        yield MountVolume(one.place, mount)


def _volume(pod: Pod) -> tuple[str, bool]:
    """Return the volume's name, and whether an earlier call added it (only ours names our key)."""
    for volume in pods.spec(pod).get("volumes") or ():
        if ANNOTATION_NCCL_CONF in str(volume.get("downwardAPI") or ""):
            return volume.get("name", ""), True
    return pods.free_volume_name(pod, VOLUME), False


def _has_file(container: Container) -> bool:
    return any(pods.mount_path(mount) == PATH for mount in container.get("volumeMounts") or ())
