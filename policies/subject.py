"""The facts about a pod that a policy may look at, free of pod JSON.

All of it can be hashed: two pods of the same facts get the same decision, worked out once.
"""

import msgspec


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """One container as the policies see it."""

    place: tuple[str, int]
    """Field of the pod spec (``containers`` or ``initContainers``) and index."""
    name: str
    runs_along: bool
    """An app container or native sidecar; false for a plain init container."""
    resources: tuple[tuple[str, int], ...]
    """Extended resources asked for: the larger of request and limit; 0 is an explicit 0."""
    accelerators: int
    is_proxy: bool
    privileged: bool
    has_env_from: bool
    claims_devices: bool = False
    """Whether it uses a resource claim, by which accelerators are asked for too."""
    asks_memory: bool = True
    """Whether it or its pod asks for cpu or memory, which huge pages need."""
    added: tuple[str, ...] = ()
    """Capabilities that its author adds."""

    def asks(self, pools: frozenset[str]) -> bool:
        """Whether it asks for any of some resources."""
        return any(number and name in pools for name, number in self.resources)

    def excludes(self, pools: frozenset[str]) -> bool:
        """Whether it sets any of some resources to 0 itself."""
        return any(not number and name in pools for name, number in self.resources)


class Selected(msgspec.Struct, frozen=True, gc=False):
    """One network selection element that the pod's author wrote."""

    namespace: str
    name: str
    interface: str
    extra_keys: tuple[str, ...] = ()
    """Keys beyond name, namespace and interface, as written."""
    is_default: bool = False
    """Whether it stands in the annotation that replaces the pod's primary network."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One pod that somebody wants to create."""

    namespace: str
    """Of the request; never the object's own, which may be empty or forged."""
    annotations: tuple[tuple[str, str], ...]
    """Ours, in the order of the pod; of the keys that the webhook writes only the names count."""
    containers: tuple[Container, ...]
    selections: tuple[Selected, ...] = ()
    host_network: bool = False
    is_windows: bool = False
    is_mpi_worker: bool = False
    """Whether its ranks are started by sshd, which does not hand them the container's env."""
    is_mpi_launcher: bool = False
    node_selector: tuple[tuple[str, str], ...] = ()
    runtime_class: str = ""
