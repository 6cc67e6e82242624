"""``Objects``: what the server may ask about the cluster's objects.

The one seam between serving and watching: three functions, so that the server knows no watch and
tests need none.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from policies.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Objects:
    """Where decisions get their snapshot.

    Attributes:
        current: Returns the newest snapshot; never waits.
        changed: Returns an awaitable that is done when ``current`` next returns another one.
            None: nothing is worth waiting for, as when objects come from files.
        fetch: Looks one object up (kind, namespace, name) and puts what it finds into the
            snapshot before it is done. Bounded in time, raises nothing. None: there is nobody to
            ask.
    """

    current: Callable[[], Snapshot]
    changed: Callable[[], Awaitable[object]] | None = None
    fetch: Callable[[str, str, str], Awaitable[object]] | None = None
