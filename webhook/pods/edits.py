"""The closed set of edits: what to write into a pod, not how.

An edit says what to do if the place is taken; only ``patch.py`` looks and acts.
"""

from typing import Any

import msgspec

from webhook.pods.pod import Place


class SetAnnotation(msgspec.Struct, frozen=True, gc=False):
    """Give an annotation this value, whatever it was."""

    key: str
    value: str


class SetSpecField(msgspec.Struct, frozen=True):
    """Give a field of the pod spec this value, whatever it was."""

    field: str
    value: Any


class SelectNode(msgspec.Struct, frozen=True, gc=False):
    """Add a key to the node selector; a key that is there is kept."""

    key: str
    value: str


class Tolerate(msgspec.Struct, frozen=True):
    """Add a toleration; an equal one is kept."""

    toleration: dict[str, Any]


class AddVolume(msgspec.Struct, frozen=True):
    """Add a volume; one of that name is kept."""

    name: str
    source: dict[str, Any]


class RequestResource(msgspec.Struct, frozen=True, gc=False):
    """Ask for a quantity of a resource, the same in requests and limits."""

    place: Place
    resource: str
    quantity: str


class SetEnv(msgspec.Struct, frozen=True, gc=False):
    """Set an environment variable; where the name is taken, keep it or replace it."""

    place: Place
    name: str
    value: str
    replaces: bool


class AddCapability(msgspec.Struct, frozen=True, gc=False):
    """Add a Linux capability, once."""

    place: Place
    name: str


class DropCapability(msgspec.Struct, frozen=True, gc=False):
    """Drop a Linux capability, once; ``ALL`` counts as every one."""

    place: Place
    name: str


class MountVolume(msgspec.Struct, frozen=True):
    """Mount a volume; a mount on the same path is kept."""

    place: Place
    mount: dict[str, Any]


Edit = (
    SetAnnotation
    | SetSpecField
    | SelectNode
    | Tolerate
    | AddVolume
    | RequestResource
    | SetEnv
    | AddCapability
    | DropCapability
    | MountVolume
)
