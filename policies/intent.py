"""What one pod shall receive: the decision, before anything is written down."""

from typing import Any

import msgspec

from policies.refusal import Notice


class Attachment(msgspec.Struct, frozen=True, gc=False):
    """One network selection element that was decided on, with its rail and resource."""

    network: str
    rail: str
    namespace: str
    """Namespace of the NetworkAttachmentDefinition."""
    name: str
    interface: str
    """Interface in the pod; empty where the user's own element names none."""
    selected: bool
    """Whether the user's own selections already hold it."""


class Equipped(msgspec.Struct, frozen=True):
    """One container that takes part, and what it asks the node for."""

    place: tuple[str, int]
    """Field of the pod spec (``containers`` or ``initContainers``) and index."""
    name: str
    resources: tuple[tuple[str, int], ...]
    """Extended resources and the whole number that requests and limits shall both hold: never
    less than what the container asks for already."""
    has_devices: bool
    """False for a container that only shares memory and environment with the equipped ones."""
    env_by_file: bool
    """Whether defaults go into ``/etc/nccl.conf``, because ``env`` would override a source."""


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """What one pod shall receive."""

    networks: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()
    equipped: tuple[Equipped, ...] = ()
    host_network: bool = False
    add_capabilities: tuple[str, ...] = ()
    drop_capabilities: tuple[str, ...] = ()
    shared_memory: str = ""
    """Size limit of the memory volume at /dev/shm; empty means none."""
    env: tuple[tuple[str, str], ...] = ()
    """Defaults, used where the container does not set the name."""
    forced_env: tuple[tuple[str, str], ...] = ()
    """Values that replace the container's own."""
    hugepages: tuple[tuple[str, str], ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[dict[str, Any], ...] = ()
    partition: str = ""
    policy: str = ""
    """``namespace/name`` of the policy."""
    generation: int = 0
    status: str = ""
    """Text of the status annotation."""
    is_bystander: bool = False
    """Whether the pod is judged but gets nothing: it only starts the ranks of others."""
    shares_hca: bool = False
    """Whether device names and GID tables are shared by all pods of a node."""
    has_vfs: bool = False
    """Whether device names are assigned to the pod at run time."""
    notices: tuple[Notice, ...] = ()
