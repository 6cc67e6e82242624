"""Edits into RFC 6902 operations: the one place that knows JSON Pointer.

Operations are ``add`` and, where a value is there already, ``replace``; never ``remove``. Parents
are created from what is really there. A list is appended to, never rewritten.
"""

from collections.abc import Iterable
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
    draft = _Draft(pod)
    for edit in edits:
        draft.take(edit)
    return draft.ops()


def escaped(key: str) -> str:
    """Return a key as one part of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


class _Draft:
    """The wanted additions, gathered by place, before any pointer is written."""

    def __init__(self, pod: Pod) -> None:
        self._pod = pod
        self._spec = pods.spec(pod)
        self._annotations: dict[str, str] = {}
        self._fields: dict[str, Any] = {}
        self._node_selector: dict[str, str] = {}
        self._tolerations: list[dict[str, Any]] = []
        self._volumes: list[dict[str, Any]] = []
        self._containers: dict[Place, _ContainerDraft] = {}

    def take(self, edit: Edit) -> None:
        """Add one edit, or drop it where the pod already says so."""
        match edit:
            case SetAnnotation(key, value):
                if pods.annotations(self._pod).get(key) != value:
                    self._annotations[key] = value
            case SetSpecField(field, value):
                if self._spec.get(field) != value:
                    self._fields[field] = value
            case SelectNode(key, value):
                if key not in (self._spec.get("nodeSelector") or {}):
                    self._node_selector[key] = value
            case Tolerate(toleration):
                if toleration not in (*(self._spec.get("tolerations") or ()), *self._tolerations):
                    self._tolerations.append(toleration)
            case AddVolume(name, source):
                taken = (*(self._spec.get("volumes") or ()), *self._volumes)
                if all(volume.get("name") != name for volume in taken):
                    self._volumes.append({"name": name, **source})
            case _:
                self._in_container(edit)

    def _in_container(
        self, edit: RequestResource | SetEnv | AddCapability | DropCapability | MountVolume
    ) -> None:
        draft = self._containers.get(edit.place)
        if draft is None:
            container = pods.container_at(self._pod, edit.place)
            draft = self._containers[edit.place] = _ContainerDraft(container)
        match edit:
            case RequestResource():
                draft.request(edit.resource, edit.quantity)
            case SetEnv():
                draft.set_env(edit)
            case AddCapability():
                draft.add_capability(edit.name)
            case DropCapability():
                draft.drop_capability(edit.name)
            case MountVolume():
                draft.mount(edit.mount)
            case _:
                assert_never(edit)

    def ops(self) -> list[Op]:
        """Return the operations, in the pod's own order of fields."""
        ops: list[Op] = []
        metadata = self._pod.get("metadata")
        if metadata is None and self._annotations:
            ops.append(Op("add", "/metadata", {}))
            metadata = {}
        _extend_map(
            ops, "/metadata/annotations", (metadata or {}).get("annotations"), self._annotations
        )
        for field, value in self._fields.items():
            verb = "replace" if field in self._spec else "add"
            ops.append(Op(verb, f"/spec/{field}", value))
        _extend_map(ops, "/spec/nodeSelector", self._spec.get("nodeSelector"), self._node_selector)
        _extend_list(ops, "/spec/tolerations", self._spec.get("tolerations"), self._tolerations)
        _extend_list(ops, "/spec/volumes", self._spec.get("volumes"), self._volumes)
        for (field, index), draft in sorted(self._containers.items()):
            draft.write(ops, f"/spec/{field}/{index}")
        return ops


class _ContainerDraft:
    """The wanted additions to one container."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._requests: dict[str, str] = {}
        self._limits: dict[str, str] = {}
        self._env: list[dict[str, str]] = []
        self._replaced_env: list[tuple[int, dict[str, str]]] = []
        self._add: list[str] = []
        self._drop: list[str] = []
        self._mounts: list[dict[str, Any]] = []

    def request(self, resource: str, quantity: str) -> None:
        resources = self._container.get("resources") or {}
        if (resources.get("limits") or {}).get(resource) != quantity:
            self._limits[resource] = quantity
        if (resources.get("requests") or {}).get(resource) != quantity:
            self._requests[resource] = quantity

    def set_env(self, edit: SetEnv) -> None:
        item = {"name": edit.name, "value": edit.value}
        places = [
            index
            for index, known in enumerate(self._container.get("env") or ())
            if known.get("name") == edit.name
        ]
        if not places:
            if all(known["name"] != edit.name for known in self._env):
                self._env.append(item)
        elif edit.replaces and any(self._container["env"][i] != item for i in places):  # type: ignore[index]
            self._replaced_env += [(index, item) for index in places]

    def add_capability(self, name: str) -> None:
        known = self._capabilities().get("add") or ()
        if name not in known and "ALL" not in known and name not in self._add:
            self._add.append(name)

    def drop_capability(self, name: str) -> None:
        known = self._capabilities().get("drop") or ()
        if name not in known and "ALL" not in known and name not in self._drop:
            self._drop.append(name)

    def mount(self, mount: dict[str, Any]) -> None:
        taken = (*(self._container.get("volumeMounts") or ()), *self._mounts)
        path = pods.mount_path(mount)  # type: ignore[arg-type]
        if all(pods.mount_path(known) != path for known in taken):  # type: ignore[arg-type]
            self._mounts.append(mount)

    def _capabilities(self) -> pods.Capabilities:
        return (self._container.get("securityContext") or {}).get("capabilities") or {}

    def write(self, ops: list[Op], path: str) -> None:
        """Add this container's operations."""
        container = self._container
        for index, item in self._replaced_env:
            ops.append(Op("replace", f"{path}/env/{index}", item))
        _extend_list(ops, f"{path}/env", container.get("env"), self._env)
        _extend_tree(
            ops,
            f"{path}/resources",
            container.get("resources"),
            {"limits": self._limits, "requests": self._requests},
        )
        self._write_capabilities(ops, f"{path}/securityContext")
        _extend_list(ops, f"{path}/volumeMounts", container.get("volumeMounts"), self._mounts)

    def _write_capabilities(self, ops: list[Op], path: str) -> None:
        wanted = {"add": self._add, "drop": self._drop}
        wanted = {key: names for key, names in wanted.items() if names}
        if not wanted:
            return
        context = self._container.get("securityContext")
        if context is None:
            ops.append(Op("add", path, {"capabilities": wanted}))
            return
        known = context.get("capabilities")
        if known is None:
            ops.append(Op("add", f"{path}/capabilities", wanted))
            return
        for key, names in wanted.items():
            _extend_list(ops, f"{path}/capabilities/{key}", known.get(key), names)  # type: ignore[arg-type]


def _extend_list(ops: list[Op], path: str, known: list[Any] | None, items: list[Any]) -> None:
    """Append to a list, which may be absent or null."""
    if not items:
        return
    if known is None:
        ops.append(Op("add", path, items))
        return
    ops.extend(Op("add", f"{path}/-", item) for item in items)


def _extend_map(
    ops: list[Op], path: str, known: dict[str, Any] | None, items: dict[str, Any]
) -> None:
    """Set keys of a map, which may be absent or null."""
    if not items:
        return
    if known is None:
        ops.append(Op("add", path, items))
        return
    for key, value in items.items():
        ops.append(Op("replace" if key in known else "add", f"{path}/{escaped(key)}", value))


def _extend_tree(
    ops: list[Op],
    path: str,
    known: Any,
    items: dict[str, dict[str, Any]],  # noqa: ANN401
) -> None:
    """Set keys of maps that share a parent, which may be absent or null itself."""
    wanted = {key: values for key, values in items.items() if values}
    if not wanted:
        return
    if known is None:
        ops.append(Op("add", path, wanted))
        return
    for key, values in wanted.items():
        _extend_map(ops, f"{path}/{key}", known.get(key), values)
