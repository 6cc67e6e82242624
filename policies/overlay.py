"""Changes to a persistent map that are not in it yet: the map shares all that they do not touch.

Costs what is changed, however large the map is.
"""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from immutables import Map

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Overlay(Generic[Key, Value]):
    """A map in the making; no value is None."""

    def __init__(self, base: Map[Key, Value]) -> None:
        """Begin with a map, which stays as it is."""
        self._base = base
        self._changes: dict[Key, Value | None] = {}

    def get(self, key: Key) -> Value | None:
        """Return what a key has now, or None."""
        return self._changes[key] if key in self._changes else self._base.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Set a key's value."""
        self._changes[key] = value

    def drop(self, key: Key) -> None:
        """Forget a key; one that is not there is no error."""
        self._changes[key] = None

    def items(self) -> Iterator[tuple[Key, Value]]:
        """Yield every key with what it has now."""
        for key, value in self._base.items():
            if key not in self._changes:
                yield key, value
        for key, changed in self._changes.items():
            if changed is not None:
                yield key, changed

    def __iter__(self) -> Iterator[Key]:
        """Yield every key. Costs the whole map, as do items and values."""
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Value]:
        """Yield every value."""
        return (value for _, value in self.items())

    def finished(self) -> Map[Key, Value]:
        """Return the map after the changes: the very same one where nothing is different."""
        news = {key: new for key, new in self._changes.items() if new != self._base.get(key)}
        if not news:
            return self._base
        made = self._base.mutate()
        for key, new in news.items():
            if new is None:
                del made[key]
            else:
                made[key] = new
        return made.finish()
