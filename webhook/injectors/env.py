"""Environment variables of NCCL, UCX and others, appended; the user's own values win.

Source: kubernetes/api ``core/v1/types.go`` (``env`` goes before ``envFrom``; ``$(NAME)`` expands);
NVIDIA/nccl ``misc/param.cc`` (``/etc/nccl.conf`` loses to the environment).
"""

import re
from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.names import ANNOTATION_NCCL_CONF
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import AddVolume, MountVolume, SetAnnotation, SetEnv
from webhook.pods.pod import Container, Pod, Volume

VOLUME = "rdma-nccl-conf"
FILE = "nccl.conf"
PATH = f"/etc/{FILE}"
_NCCL = "NCCL_"
_MAX_PKEY_INDEX = 127
"""At most 128 PKeys a port (ib-kubernetes); a larger value is a key, not an index."""
_WATCHED = frozenset({"NCCL_IB_GID_INDEX", "NCCL_IB_HCA", "NCCL_IB_PKEY"})
_EXACT_HCA = re.compile(r"\^?=")


def inject(
    pod: Pod, intent: Intent
) -> Iterator[SetEnv | SetAnnotation | AddVolume | MountVolume | Notice]:
    """Yield defaults and forced values, by ``env`` or by ``/etc/nccl.conf``."""
    forced = dict(intent.forced_env)
    defaults = {name: value for name, value in intent.env if name not in forced}
    by_file = [one for one in intent.equipped if one.env_by_file]
    lines = [f"{name}={value}" for name, value in defaults.items() if name.startswith(_NCCL)]
    if by_file and lines:
        yield from _file(pod, by_file, lines)
    for one in intent.equipped:
        container = pods.container_at(pod, one.place)
        known = {
            item.name: item.value
            for item in container.get("env") or ()
            if item.name in forced or item.name in _WATCHED
        }
        if not one.env_by_file:
            for name, value in defaults.items():
                yield SetEnv(one.place, name, _escaped(value), replaces=False)
        for name, value in forced.items():
            if known.get(name, value) not in {value, _escaped(value)}:
                yield Notice(f"container {one.name}: {name} is set to {value} by the policy", 4)
            yield SetEnv(one.place, name, _escaped(value), replaces=True)
        yield from _contradictions(one, known, intent)


def _escaped(value: str) -> str:
    """Return a literal value that Kubernetes does not expand."""
    return value.replace("$(", "$$(") if "$(" in value else value


def _file(
    pod: Pod, by_file: list[Equipped], lines: list[str]
) -> Iterator[SetAnnotation | AddVolume | MountVolume]:
    """Yield ``/etc/nccl.conf`` as a downward-API file, which loses to the user's environment."""
    mounting = [one for one in by_file if not _has_file(pods.container_at(pod, one.place))]
    yield SetAnnotation(ANNOTATION_NCCL_CONF, "\n".join(lines) + "\n")
    source = {
        "downwardAPI": {
            "items": [
                {
                    "path": FILE,
                    "fieldRef": {"fieldPath": f"metadata.annotations['{ANNOTATION_NCCL_CONF}']"},
                }
            ]
        }
    }
    name, _ = pods.volume_name(pod, VOLUME, _is_downward)
    if mounting:
        yield AddVolume(name, source)
    for one in mounting:
        mount = {"name": name, "mountPath": PATH, "subPath": FILE, "readOnly": True}
        yield MountVolume(one.place, mount)


def _is_downward(volume: Volume) -> bool:
    """Whether a volume is the one that an earlier call added: nothing else names our key."""
    return ANNOTATION_NCCL_CONF in str(volume.get("downwardAPI") or "")


def _has_file(container: Container) -> bool:
    return any(pods.mount_path(mount) == PATH for mount in container.get("volumeMounts") or ())


def _contradictions(
    one: Equipped, known: dict[str, str | None], intent: Intent
) -> Iterator[Notice]:
    """Warn of the user's own values that cannot be right on these networks."""
    if intent.shares_hca and known.get("NCCL_IB_GID_INDEX"):
        yield Notice(
            f"container {one.name}: NCCL_IB_GID_INDEX differs between pods on shared RoCE devices",
            3,
        )
    hca = known.get("NCCL_IB_HCA")
    if intent.has_vfs and hca and _EXACT_HCA.match(hca):
        yield Notice(
            f"container {one.name}: NCCL_IB_HCA {hca} may not exist: VF device names are assigned "
            "at run time",
            3,
        )
    pkey = known.get("NCCL_IB_PKEY")
    if pkey and not _is_index(pkey):
        yield Notice(
            f"container {one.name}: NCCL_IB_PKEY is an index into the port's table, not key {pkey}",
            3,
        )


def _is_index(text: str) -> bool:
    try:
        return 0 <= int(text, 0) <= _MAX_PKEY_INDEX
    except ValueError:
        return False
