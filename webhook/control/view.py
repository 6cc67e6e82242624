"""The newest snapshot as the leader looks at it: with notes of its own that are soon dropped.

What is worked out for one policy serves no other. Kept with the snapshot that requests read, the
offers of ten thousand policies would stay there for as long as nothing changes.
"""

from collections.abc import Callable

import msgspec

from policies.notes import Notes
from policies.snapshot import Snapshot

MOST_LOOKS = 256


class View:
    """Looks at the newest snapshot."""

    def __init__(self, current: Callable[[], Snapshot]) -> None:
        """Remember where it is.

        Args:
            current: Returns the newest snapshot.
        """
        self._current = current
        self._base: Snapshot | None = None
        self._own = current()
        self._looks = 0

    def __call__(self) -> Snapshot:
        """Return a snapshot equal to the newest one."""
        newest = self._current()
        if newest is not self._base or self._looks >= MOST_LOOKS:
            self._base, self._looks = newest, 0
            self._own = msgspec.structs.replace(newest, notes=Notes())
        self._looks += 1
        return self._own

    def forget(self) -> None:
        """Let go of what was worked out."""
        self._base, self._own = None, self._current()
