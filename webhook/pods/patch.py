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
            case RequestResource():
                self._container(edit.place).request(edit)
            case SetEnv():
                self._container(edit.place).set_env(edit)
            case MountVolume():
                self._container(edit.place).mount(edit.mount)
            case AddCapability():
                self._container(edit.place).add_capability(edit.name)
            case DropCapability():
                self._container(edit.place).drop_capability(edit.name)
            case _:
                self._take_for_pod(edit)

    def _take_for_pod(
        self, edit: SetAnnotation | SetSpecField | SelectNode | Tolerate | AddVolume
    ) -> None:
        spec = self._spec
        match edit:
            case SetAnnotation():
                if pods.annotations(self._pod).get(edit.key) != edit.value:
                    self._annotations[edit.key] = edit.value
            case SetSpecField():
                if spec.get(edit.field) != edit.value:
                    self._fields[edit.field] = edit.value
            case SelectNode():
                if edit.key not in (spec.get("nodeSelector") or {}):
                    self._node_selector[edit.key] = edit.value
            case Tolerate():
                if edit.toleration not in (*(spec.get("tolerations") or ()), *self._tolerations):
                    self._tolerations.append(edit.toleration)
            case AddVolume():
                self._add_volume(edit)
            case _:
                assert_never(edit)

    def _add_volume(self, edit: AddVolume) -> None:
        taken = (*(self._spec.get("volumes") or ()), *self._volumes)
        if all(volume.get("name") != edit.name for volume in taken):
            self._volumes.append({"name": edit.name, **edit.source})

    def _container(self, place: Place) -> "_ContainerDraft":
        draft = self._containers.get(place)
        if draft is None:
            draft = self._containers[place] = _ContainerDraft(pods.container_at(self._pod, place))
        return draft

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
        resources = container.get("resources") or {}
        self._known_limits = resources.get("limits") or {}
        self._known_requests = resources.get("requests") or {}
        self._known_env: dict[str, list[int]] | None = None
        self._requests: dict[str, str] = {}
        self._limits: dict[str, str] = {}
        self._env: list[dict[str, str]] = []
        self._replaced_env: list[tuple[int, dict[str, str]]] = []
        self._add: list[str] = []
        self._drop: list[str] = []
        self._mounts: list[dict[str, Any]] = []

    def request(self, edit: RequestResource) -> None:
        if self._known_limits.get(edit.resource) != edit.quantity:
            self._limits[edit.resource] = edit.quantity
        if self._known_requests.get(edit.resource) != edit.quantity:
            self._requests[edit.resource] = edit.quantity

    def set_env(self, edit: SetEnv) -> None:
        known = self._places_of_env().get(edit.name, [])
        item = {"name": edit.name, "value": edit.value}
        if not known:
            if all(added["name"] != edit.name for added in self._env):
                self._env.append(item)
            return
        env = self._container.get("env") or []
        if edit.replaces and any(env[index].value != edit.value for index in known):
            self._replaced_env += [(index, item) for index in known]

    def _places_of_env(self) -> dict[str, list[int]]:
        """Return where each variable stands; the last of one name counts for the process."""
        if self._known_env is None:
            self._known_env = {}
            for index, item in enumerate(self._container.get("env") or ()):
                self._known_env.setdefault(item.name, []).append(index)
        return self._known_env

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
        path = pods.mount_path(mount)
        if all(pods.mount_path(known) != path for known in taken):
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
        lists = {"add": self._add, "drop": self._drop}
        wanted = {key: names for key, names in lists.items() if names}
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
        held: Mapping[str, Any] = known
        for key, names in wanted.items():
            _extend_list(ops, f"{path}/capabilities/{key}", held.get(key), names)


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
    known: Mapping[str, Any] | None,
    items: dict[str, dict[str, Any]],
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
