"""What the status of each of our objects says now, as one number, and what was looked at.

A status is written only where it would say something else, so a quiet cluster causes no writes.
Every replica follows this, so that a new leader knows without asking.
"""

from collections.abc import Iterable, Iterator, Mapping
from sys import intern
from typing import Any

import msgspec

from policies import names
from policies.changes import Change, Everything, Gone, Put
from webhook.control.conditions import digest
from webhook.control.keys import OURS, Key


class Sight(msgspec.Struct, frozen=True, gc=False):
    """One object as it was last seen.

    Attributes:
        generation: ``metadata.generation``.
        uid: A number that differs from that of another object of the same name.
        digest: What its status says (`conditions.digest`).
    """

    generation: int
    uid: int
    digest: int

    def is_of(self, found: Mapping[str, Any]) -> bool:
        """Whether an object is the one that was seen, and its wish unchanged since."""
        generation, uid = _version(found)
        return (self.generation, self.uid) == (generation, uid)


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
        metadata, said = _part(found, "metadata"), _part(found, "status")
        places = (str(metadata.get(key) or "") for key in ("namespace", "name"))
        key = Key(intern(kind), *map(intern, places))
        self._sights[key] = Sight(*_version(found), digest(said))
        return key

    def forget(self, key: Key) -> None:
        """Take note that an object is gone."""
        self._sights.pop(key, None)

    def sight(self, key: Key) -> Sight | None:
        """Return the last sight of an object; None where it is gone."""
        return self._sights.get(key)

    def generations(self) -> Iterator[tuple[str, int]]:
        """Yield the namespaces whose policy is known, each with its generation."""
        for key, sight in list(self._sights.items()):
            if (key.kind, key.name) == (names.POLICY, names.POLICY_NAME):
                yield key.namespace, sight.generation


def _version(found: Mapping[str, Any]) -> tuple[int, int]:
    metadata = _part(found, "metadata")
    generation = metadata.get("generation")
    return generation if isinstance(generation, int) else 0, hash(str(metadata.get("uid")))


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of an object; empty where it is of another shape."""
    part = found.get(name)
    return part if isinstance(part, dict) else {}
