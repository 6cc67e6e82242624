"""What every check looks at: one request to write or delete an object of ours."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from policies.errors import InvalidObject
from policies.parse import parse
from policies.shapes import Shape

Model = TypeVar("Model", bound=Shape)

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"

MISSING: Final = 2
"""Rank of notices about what is not there, and may be once the next file is applied."""


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    kind: str
    operation: str
    name: str
    namespace: str = ""
    """Of the request; empty for kinds without one. What the object says of itself is not read."""
    object: Mapping[str, Any] | None = None
    """The object as it shall be; None where it is deleted."""
    old: Mapping[str, Any] | None = None
    """The object as it is; None where it is created."""

    @property
    def title(self) -> str:
        """How messages name the object: ``RDMAPolicy team-a/default``."""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"

    def read(self, model: type[Model], raw: Mapping[str, Any] | None) -> Model:
        """Return an object of the request, in the request's own place.

        Args:
            model: Of its kind.
            raw: `object` or `old`.

        Raises:
            InvalidObject: It does not fit; the message names object, path, problem and value.
        """
        given = raw or {}
        metadata = given.get("metadata")
        own = metadata if isinstance(metadata, Mapping) else {}
        placed = {**given, "metadata": {**own, "namespace": self.namespace, "name": self.name}}
        try:
            return parse(model, placed)
        except RecursionError as err:
            raise InvalidObject(f"{self.title}: it is nested too deeply") from err
