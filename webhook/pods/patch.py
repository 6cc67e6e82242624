"""Edits into RFC 6902 operations: the one place that knows JSON Pointer.

Operations are ``add`` and, where a value is there already, ``replace``; never ``remove``. Parents
are created from what is really there. A list is appended to, never rewritten.
"""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

import msgspec

from webhook.pods import pod as pods
from webhook.pods.edits import (
    AddCapability,
    AddVolume,
    DropCapability,
    Edit,
    MountVolume,
    RequestResource,
    SelectNode,
    SetAnnotation,
    SetEnv,
    SetSpecField,
    Tolerate,
)
from webhook.pods.pod import Container, Place, Pod


class Op(msgspec.Struct, frozen=True):
    """One operation of a JSON Patch."""

    op: str
    path: str
    value: Any


def render(edits: Iterable[Edit], pod: Pod) -> list[Op]:
    """Return the operations that bring a pod to what the edits say; none where it is there.

    Args:
        edits: In the order in which they shall be written.
        pod: The pod as it arrived; it is not changed.
    """
    writer = _Writer(pod)
    for edit in edits:
        writer.take(edit)
    return writer.ops


def escaped(key: str) -> str:
    """Return a key as one part of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


Known = Any
Chain = tuple[tuple[str, Known], ...]
"""Pointers from the outermost parent that may be absent to the leaf, with what is there."""


_SIDES = ("limits", "requests")


class _Writer:
    """Operations in the making: what was created by one edit is extended by the next."""

    __slots__ = ("_containers", "_made", "_pod", "_spec", "ops")

    def __init__(self, pod: Pod) -> None:
        self.ops: list[Op] = []
        self._pod = pod
        self._spec = pods.spec(pod)
        self._made: dict[str, Any] = {}
        """Maps and lists that an operation of ours creates, by pointer."""
        self._containers: dict[Place, _ContainerWriter] = {}

    def take(self, edit: Edit) -> None:
        """Write one edit, or nothing where the pod already says so."""
        match edit:
            case RequestResource():
                self._container(edit.place).request(edit)
            case SetEnv():
                self._container(edit.place).set_env(edit)
            case MountVolume():
                self._container(edit.place).mount(edit.mount)
            case AddCapability():
                self._container(edit.place).capability("add", edit.name)
            case DropCapability():
                self._container(edit.place).capability("drop", edit.name)
            case _:
                self._take_for_pod(edit)

    def _take_for_pod(
        self, edit: SetAnnotation | SetSpecField | SelectNode | Tolerate | AddVolume
    ) -> None:
        match edit:
            case SetAnnotation():
                self._set_annotation(edit)
            case SetSpecField():
                if self._spec.get(edit.field) != edit.value:
                    verb = "replace" if edit.field in self._spec else "add"
                    self.ops.append(Op(verb, f"/spec/{edit.field}", edit.value))
            case SelectNode():
                known = self._spec.get("nodeSelector")
                if edit.key not in (known or {}):
                    self.set(edit.key, edit.value, (("/spec/nodeSelector", known),))
            case Tolerate():
                listed = self._spec.get("tolerations")
                if edit.toleration not in (listed or ()):
                    self.append(edit.toleration, (("/spec/tolerations", listed),))
            case AddVolume():
                volumes = self._spec.get("volumes")
                if edit.name not in [volume.get("name") for volume in volumes or ()]:
                    volume = {"name": edit.name, **edit.source}
                    self.append(volume, (("/spec/volumes", volumes),))
            case _:
                assert_never(edit)

    def _set_annotation(self, edit: SetAnnotation) -> None:
        metadata = self._pod.get("metadata")
        known = (metadata or {}).get("annotations")
        if known is None or known.get(edit.key) != edit.value:
            chain = (("/metadata", metadata), ("/metadata/annotations", known))
            self.set(edit.key, edit.value, chain)

    def _container(self, place: Place) -> "_ContainerWriter":
        writer = self._containers.get(place)
        if writer is None:
            container = pods.container_at(self._pod, place)
            writer = _ContainerWriter(self, container, f"/spec/{place[0]}/{place[1]}")
            self._containers[place] = writer
        return writer

    def set(self, key: str, value: Any, chain: Chain) -> None:  # noqa: ANN401 JSON is anything
        """Set a key of the map at the end of a chain."""
        path, known = chain[-1]
        if known is not None:
            verb = "replace" if key in known else "add"
            self.ops.append(Op(verb, f"{path}/{escaped(key)}", value))
            return
        made = self._made.get(path)
        if made is None:
            self._make({key: value}, chain)
        else:
            made[key] = value

    def append(self, item: Any, chain: Chain) -> None:  # noqa: ANN401 JSON is anything
        """Append to the list at the end of a chain, once."""
        path, known = chain[-1]
        made = self._made.get(path)
        if made is None:
            made = [item]
            if known is None:
                self._make(made, chain)
                return
            self._made[path] = made
        elif item in made:
            return
        else:
            made.append(item)
        if known is not None:
            self.ops.append(Op("add", f"{path}/-", item))

    def _make(self, value: Any, chain: Chain) -> None:  # noqa: ANN401 JSON is anything
        """Create the end of a chain, and what is absent above it, in one operation."""
        path, _ = chain[-1]
        self._made[path] = value
        for level in range(len(chain) - 2, -1, -1):
            parent_path, known = chain[level]
            if known is not None:
                break
            key = path[len(parent_path) + 1 :]
            made = self._made.get(parent_path)
            if made is not None:
                made[key] = value
                return
            path, value = parent_path, {key: value}
            self._made[path] = value
        self.ops.append(Op("add", path, value))


class _ContainerWriter:
    """Operations on one container."""

    __slots__ = ("_container", "_env_names", "_path", "_writer")

    def __init__(self, writer: _Writer, container: Container, path: str) -> None:
        self._writer = writer
        self._container = container
        self._path = path
        self._env_names: set[str] | None = None

    def request(self, edit: RequestResource) -> None:
        """Set one resource in limits and in requests."""
        resources = self._container.get("resources")
        path = f"{self._path}/resources"
        name, quantity = edit.resource, edit.quantity
        for side in _SIDES:
            known: Known = resources.get(side) if resources else None
            if known is None or known.get(name) != quantity:
                chain = ((path, resources), (f"{path}/{side}", known))
                self._writer.set(name, quantity, chain)

    def set_env(self, edit: SetEnv) -> None:
        """Append a variable; where the name is taken, replace each that has it, if so told."""
        env = self._container.get("env")
        if self._env_names is None:
            self._env_names = {item.name for item in env or ()}
        item = {"name": edit.name, "value": edit.value}
        if edit.name not in self._env_names:
            self._writer.append(item, ((f"{self._path}/env", env),))
        elif edit.replaces:
            for index, known in enumerate(env or ()):
                if known.name == edit.name and not known.is_value(edit.value):
                    self._writer.ops.append(Op("replace", f"{self._path}/env/{index}", item))

    def capability(self, verb: str, name: str) -> None:
        """Add or drop a capability, unless the list says so already."""
        context = self._container.get("securityContext")
        capabilities = (context or {}).get("capabilities")
        lists: Mapping[str, Any] = capabilities or {}
        known = lists.get(verb)
        if known and (name in known or "ALL" in known):
            return
        path = f"{self._path}/securityContext"
        deeper = f"{path}/capabilities"
        chain = ((path, context), (deeper, capabilities), (f"{deeper}/{verb}", known))
        self._writer.append(name, chain)

    def mount(self, mount: dict[str, Any]) -> None:
        """Mount a volume, unless something is mounted on its path."""
        mounts = self._container.get("volumeMounts")
        path = pods.mount_path(mount)
        if path not in [pods.mount_path(known) for known in mounts or ()]:
            self._writer.append(mount, ((f"{self._path}/volumeMounts", mounts),))
