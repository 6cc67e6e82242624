"""The part of a pod that we read and write, as the received JSON has it.

The types name the fields that are decoded; all others are skipped by the parser and survive
because the pod is never encoded again. A key that is absent, null or empty stays just that, for
the patch must be built from what is really there.

Source of the field names: kubernetes/api ``core/v1/types.go``.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, count
from posixpath import normpath
from typing import Any, Final, TypedDict

import msgspec

Quantities = dict[str, str | int | float]
Place = tuple[str, int]
"""Field of the pod spec (``containers`` or ``initContainers``) and index in it."""


class EnvVar(msgspec.Struct, gc=False):
    """One entry of ``env``, with ``value`` or with ``valueFrom``.

    A struct, unlike the rest, for it is the bulk of most pods and is only ever read.
    """

    name: str = ""
    value: str | None = None
    source: Any = msgspec.field(name="valueFrom", default=None)

    def is_value(self, value: str) -> bool:
        """Whether it has a literal value; Go writes an empty one by leaving it out."""
        return self.source is None and (self.value or "") == value


class Resources(TypedDict, total=False):
    """Container or pod resources."""

    limits: Quantities | None
    requests: Quantities | None
    claims: list[Any] | None


class Capabilities(TypedDict, total=False):
    """Linux capabilities."""

    add: list[str] | None
    drop: list[str] | None


class SecurityContext(TypedDict, total=False):
    """Security context of a container; of a pod, the two ``runAs`` fields."""

    capabilities: Capabilities | None
    privileged: bool | None
    runAsUser: int | None
    runAsNonRoot: bool | None
    procMount: str | None


class VolumeMount(TypedDict, total=False):
    """One entry of ``volumeMounts``."""

    name: str
    mountPath: str
    readOnly: bool | None
    subPath: str | None
    subPathExpr: str | None


class Port(TypedDict, total=False):
    """One entry of ``ports``."""

    containerPort: int


class Container(TypedDict, total=False):
    """One container."""

    name: str
    env: list[EnvVar] | None
    envFrom: list[Any] | None
    ports: list[Port] | None
    resources: Resources | None
    restartPolicy: str | None
    securityContext: SecurityContext | None
    volumeMounts: list[VolumeMount] | None


class EmptyDir(TypedDict, total=False):
    """An ``emptyDir`` volume source."""

    medium: str | None
    sizeLimit: str | int | float | None


class Volume(TypedDict, total=False):
    """One volume; of its sources the ones that we add."""

    name: str
    emptyDir: EmptyDir | None
    downwardAPI: Any


class Os(TypedDict, total=False):
    """``spec.os``."""

    name: str | None


class Spec(TypedDict, total=False):
    """The pod's spec."""

    containers: list[Container] | None
    initContainers: list[Container] | None
    volumes: list[Volume] | None
    hostNetwork: bool | None
    hostPID: bool | None
    hostIPC: bool | None
    hostUsers: bool | None
    dnsPolicy: str | None
    nodeSelector: dict[str, str] | None
    os: Os | None
    resources: Resources | None
    runtimeClassName: str | None
    securityContext: SecurityContext | None
    tolerations: list[dict[str, Any]] | None


class Metadata(TypedDict, total=False):
    """The pod's metadata."""

    name: str | None
    generateName: str | None
    annotations: dict[str, str] | None
    labels: dict[str, str] | None


class Pod(TypedDict, total=False):
    """A pod, partially decoded."""

    kind: str | None
    metadata: Metadata | None
    spec: Spec | None


TOKEN_VOLUME: Final = "kube-api-access-"  # noqa: S105 the name of a volume
"""What the API server's ServiceAccount admission names the token's volume, before five random
characters (kubernetes ``plugin/pkg/admission/serviceaccount``)."""


def annotations(pod: Pod) -> dict[str, str]:
    """Return the pod's annotations; empty where there are none."""
    return (pod.get("metadata") or {}).get("annotations") or {}


def labels(pod: Pod) -> dict[str, str]:
    """Return the pod's labels; empty where there are none."""
    return (pod.get("metadata") or {}).get("labels") or {}


def spec(pod: Pod) -> Spec:
    """Return the pod's spec; empty where there is none."""
    return pod.get("spec") or {}


def forget_token_names(pod: Pod) -> None:
    """Take the random end from the name of the token's volume, in place.

    No edit is about that volume, and without it the pods of one job have equal specs. A volume of
    the author's that is called so keeps its name: it is an emptyDir or of the downward API where
    an edit can be about it.
    """
    for volume in spec(pod).get("volumes") or ():
        name = volume.get("name", "")
        if name.startswith(TOKEN_VOLUME) and volume.keys().isdisjoint(("emptyDir", "downwardAPI")):
            volume["name"] = TOKEN_VOLUME
            _rename_mounts(pod, name)


def _rename_mounts(pod: Pod, name: str) -> None:
    for _, container in containers(pod):
        for mount in container.get("volumeMounts") or ():
            if mount.get("name") == name:
                mount["name"] = TOKEN_VOLUME


def called(pod: Pod) -> str:
    """Return how people know the pod: its name, or its generateName and a star."""
    metadata = pod.get("metadata") or {}
    generated = metadata.get("generateName")
    return metadata.get("name") or (f"{generated}*" if generated else "")


def containers(pod: Pod) -> Iterator[tuple[Place, Container]]:
    """Yield app containers, then init containers (native sidecars among them), with places."""
    found = spec(pod)
    for index, container in enumerate(found.get("containers") or ()):
        yield ("containers", index), container
    for index, container in enumerate(found.get("initContainers") or ()):
        yield ("initContainers", index), container


def container_at(pod: Pod, place: Place) -> Container:
    """Return the container at a place."""
    field, index = place
    found = spec(pod)
    several = found.get("containers") if field == "containers" else found.get("initContainers")
    return (several or [])[index]


def free_volume_name(pod: Pod, wanted: str) -> str:
    """Return a name for a new volume: the wanted one, or with a number where it is taken."""
    taken = {volume.get("name") for volume in spec(pod).get("volumes") or ()}
    names = chain((wanted,), (f"{wanted}-{number}" for number in count(1)))
    return next(name for name in names if name not in taken)


def runs_along(place: Place, container: Container) -> bool:
    """Whether a container runs for the pod's life: an app container or a native sidecar."""
    return place[0] == "containers" or container.get("restartPolicy") == "Always"


def is_privileged(container: Container) -> bool:
    """Whether a container is privileged."""
    return (container.get("securityContext") or {}).get("privileged") is True


def mount_path(mount: Mapping[str, Any] | VolumeMount) -> str:
    """Return where a volume is mounted, in one spelling: ``//dev//shm/`` is ``/dev/shm``."""
    path = mount.get("mountPath") or ""
    return _normal(path) if len(path) <= _LONGEST_PATH else path


_LONGEST_PATH = 4096
"""Longest path of Linux; no longer one is a place of ours, nor remembered."""


@lru_cache(maxsize=4096)
def _normal(path: str) -> str:
    return normpath("/" + path.lstrip("/"))
