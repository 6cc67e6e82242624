"""How one kind is doing: what is known of it, and what happened to it since we began."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """What was counted; never reset.

    Attributes:
        events: Events of watches, bookmarks too.
        lists: Full lists that were read, by cause and way (``start`` or ``expired``, …;
            ``stream`` or ``pages``).
        failures: Calls that failed, by the reason of their :class:`.CallFailed`.
    """

    events: int = 0
    lists: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class State:
    """How one kind is doing.

    Attributes:
        synced: Whether all its objects are in the snapshot.
        seen: When its source last gave a sign of life; None before the first.
        trouble: Why its source cannot be read now; empty where it can.
        objects: How many are known.
        tally: What was counted; its source writes there.
    """

    synced: bool = False
    seen: float | None = None
    trouble: str = ""
    objects: int = 0
    tally: Tally = field(default_factory=Tally)
