"""What the status of each of our objects says now, as one number, and what was looked at.

A status is written only where it would say something else, so a quiet cluster causes no writes.
Every replica follows this, so that a new leader knows without asking.
"""

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any

import msgspec

from policies.changes import Change, Everything, Gone, Put
from webhook.control.conditions import digest
from webhook.control.keys import OURS, Key


class Sight(msgspec.Struct, frozen=True, gc=False):
    """One object as it was last seen.

    Attributes:
        generation: ``metadata.generation``.
        digest: What its status says (`conditions.digest`).
    """

    generation: int
    digest: int


class Observed:
    """The last sight of every object of ours."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._sights: dict[Key, Sight] = {}

    def follow(self, changes: Iterable[Change]) -> None:
        """Take note of changes, in order."""
        for change in changes:
            if change.kind not in OURS:
                continue
            match change:
                case Put():
                    self.see(change.kind, change.object)
                case Gone():
                    self.forget(Key(change.kind, change.namespace, change.name))
                case Everything():
                    kept = {self.see(change.kind, one) for one in change.objects}
                    for key in [one for one in self._sights if one.kind == change.kind]:
                        if key not in kept:
                            self.forget(key)

    def see(self, kind: str, found: Mapping[str, Any]) -> Key:
        """Take note of one object; return its key."""
        metadata = found.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        places = (str(metadata.get(key) or "") for key in ("namespace", "name"))
        key = Key(intern(kind), *map(intern, places))
        generation, status = metadata.get("generation"), found.get("status")
        self._sights[key] = Sight(
            generation if isinstance(generation, int) else 0,
            digest(status if isinstance(status, dict) else {}),
        )
        return key

    def forget(self, key: Key) -> None:
        """Take note that an object is gone."""
        self._sights.pop(key, None)

    def sight(self, key: Key) -> Sight | None:
        """Return the last sight of an object; None where it is gone."""
        return self._sights.get(key)
