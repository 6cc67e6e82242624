"""What can happen to the objects of a cluster, as values, wherever it was heard of."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class Put(msgspec.Struct, frozen=True):
    """An object was added or changed."""

    kind: str
    object: Mapping[str, Any]


class Gone(msgspec.Struct, frozen=True):
    """An object was deleted; namespace is empty for cluster-scoped kinds."""

    kind: str
    namespace: str
    name: str


class Everything(msgspec.Struct, frozen=True):
    """A full list of one kind: what it does not hold is gone."""

    kind: str
    objects: Iterable[Mapping[str, Any]]


Change = Put | Gone | Everything
