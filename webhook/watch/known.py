"""Which objects of one kind are in the snapshot, and what a full list of them changes.

Knows names and resource versions, not what objects mean. A version is opaque: it is the one we
know, or another one; never older or newer.
"""

from collections.abc import Mapping
from typing import Any

from policies.changes import Change, Gone, Put
from webhook.apiserver.errors import BrokenAnswer

Place = tuple[str, str]
"""Namespace (empty where the kind has none) and name."""
Sighting = tuple[int, int | None]
"""What was heard of an object so far: deletions of its kind, and a fingerprint of its version."""


class Known:
    """The objects of one kind that were handed over.

    Attributes:
        count: How many there are.
        deletions: How many were seen to go.
    """

    def __init__(self, kind: str) -> None:
        """Begin with none."""
        self.count = 0
        self.deletions = 0
        self._kind = kind
        self._versions: dict[str, dict[str, int]] = {}
        """Namespace to name to a fingerprint of the resource version."""

    def has(self, place: Place) -> bool:
        """Tell whether an object was handed over."""
        namespace, name = place
        return name in self._versions.get(namespace, {})

    def sighting(self, place: Place) -> Sighting:
        """Return a mark that is another one once more was heard of an object."""
        namespace, name = place
        return self.deletions, self._versions.get(namespace, {}).get(name)

    def differs(self, found: Mapping[str, Any]) -> bool:
        """Tell whether an object is new or at another version."""
        namespace, name = place_of(found)
        return self._versions.get(namespace, {}).get(name) != hash(version_of(found))

    def put(self, found: dict[str, Any]) -> list[Change]:
        """Take an object; return what it changes, nothing where its version is the one we know."""
        if not self.differs(found):
            return []
        namespace, name = place_of(found)
        objects = self._versions.setdefault(namespace, {})
        self.count += name not in objects
        objects[name] = hash(version_of(found))
        return [Put(self._kind, trimmed(found))]

    def drop(self, place: Place) -> list[Change]:
        """Let go of an object; return what that changes, nothing where it was not known."""
        if not self.has(place):
            return []
        namespace, name = place
        del self._versions[namespace][name]
        if not self._versions[namespace]:
            del self._versions[namespace]
        self.count -= 1
        self.deletions += 1
        return [Gone(self._kind, namespace, name)]

    def places(self) -> set[Place]:
        """Return where the objects are."""
        return {(space, name) for space, objects in self._versions.items() for name in objects}


class Listing:
    """A full list in the making. What is known stays as it is until :meth:`finish`."""

    def __init__(self, known: Known) -> None:
        """Begin: nothing was seen yet."""
        self._known = known
        self._unseen = known.places()
        self._changed: dict[Place, dict[str, Any]] = {}

    def add(self, found: dict[str, Any]) -> None:
        """Take an object of the list; a later one of the same name counts."""
        place = place_of(found)
        self._unseen.discard(place)
        if self._known.differs(found):
            self._changed[place] = trimmed(found)
        else:
            self._changed.pop(place, None)

    def remove(self, place: Place) -> None:
        """Take note that an object was deleted while the list was under way."""
        self._changed.pop(place, None)
        if self._known.has(place):
            self._unseen.add(place)

    def __len__(self) -> int:
        """Return how many objects wait to be handed over."""
        return len(self._changed)

    def drain(self) -> list[Change]:
        """Return what was found to differ so far; it counts as known from here on."""
        changed, self._changed = self._changed, {}
        return [change for found in changed.values() for change in self._known.put(found)]

    def finish(self) -> list[Change]:
        """Return what is left to hand over: what differs, and what is no longer there."""
        gone = [change for place in self._unseen for change in self._known.drop(place)]
        return [*self.drain(), *gone]


def place_of(found: Mapping[str, Any]) -> Place:
    """Return an object's namespace and name.

    Raises:
        BrokenAnswer: It has no name.
    """
    metadata = found.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or not name:
        raise BrokenAnswer("an object has no metadata.name")
    namespace = metadata.get("namespace")
    return (namespace if isinstance(namespace, str) else ""), name


def version_of(found: Mapping[str, Any]) -> str:
    """Return an object's resource version, empty where it has none."""
    metadata = found.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    return version if isinstance(version, str) else ""


def trimmed(found: dict[str, Any]) -> dict[str, Any]:
    """Return the object without what nobody reads and what is half of its size."""
    found["metadata"].pop("managedFields", None)
    return found
