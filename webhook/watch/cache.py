"""The current snapshot, and whether it can be trusted.

Knows the core's ``Snapshot`` and time; does not know where changes come from. Readers take
``current()`` and never wait; one assignment swaps it.
"""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta

from policies.changes import Change
from policies.snapshot import Snapshot
from webhook.watch.state import State

BATCH_SECONDS = 0.05
"""A burst of events becomes one new snapshot; what comes alone is applied at once."""

log = logging.getLogger(__name__)


Listener = Callable[[Sequence[Change], Snapshot, Snapshot], None]
"""Is told of changes that were applied, in order, and of the snapshots before and after them."""


class Cache:
    """Holds the snapshot that requests are judged by.

    Attributes:
        swaps: How often another snapshot took the place of the one before.
    """

    def __init__(
        self,
        empty: Snapshot,
        kinds: Iterable[str],
        max_staleness: timedelta,
        clock: Callable[[], float],
    ) -> None:
        """Begin with nothing known.

        Args:
            empty: The snapshot to start from.
            kinds: Which kinds must be known before requests can be judged.
            max_staleness: Silence of one kind that makes us not ready.
            clock: Seconds, never going back.
        """
        self.swaps = 0
        self._snapshot = empty
        self._states = {kind: State() for kind in kinds}
        self._max_staleness = max_staleness.total_seconds()
        self._clock = clock
        self._pending: list[Change] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flushed = -math.inf
        self._swapped = asyncio.Event()
        self._listeners: list[Listener] = []
        self._notes: dict[str, tuple[str, ...]] = {}

    def current(self) -> Snapshot:
        """Return the newest snapshot."""
        return self._snapshot

    def changed(self) -> Awaitable[object]:
        """Return an awaitable that is done at the next swap after this call."""
        return self._swapped.wait()

    def offer(self, changes: Sequence[Change]) -> None:
        """Have changes applied, in order, within :data:`BATCH_SECONDS`."""
        self._pending.extend(changes)
        if self._timer is None and self._pending:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(self._flushed + BATCH_SECONDS, self.flush)

    def flush(self) -> None:
        """Apply what was offered, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._pending:
            return
        batch, self._pending = self._pending, []
        before = self._snapshot
        self._snapshot, applied = _apply(before, batch)
        self._flushed = asyncio.get_running_loop().time()
        if self._snapshot is not before:
            self.swaps += 1
            self._swapped.set()
            self._swapped = asyncio.Event()
        self._tell(applied, before)

    def follow(self, listener: Listener) -> None:
        """Have a listener told of every batch once it is applied, from now on.

        It is called within the swap's own turn of the loop, so it has to be quick; what it raises
        is logged and stops nobody. It hears of a batch that left the snapshot as it was too.
        """
        self._listeners.append(listener)

    def _tell(self, applied: Sequence[Change], before: Snapshot) -> None:
        for listener in self._listeners if applied else ():
            try:
                listener(applied, before, self._snapshot)
            except Exception:
                log.exception("follower_failed", extra={"fields": {"changes": len(applied)}})

    def synced(self, kind: str, objects: int) -> None:
        """Take note that all objects of a kind were offered; they are applied now."""
        self.flush()
        state = self._states[kind]
        if not state.synced:
            log.info("kind_synced", extra={"fields": {"kind": kind, "objects": objects}})
        state.synced = True
        self.seen(kind, objects)

    def seen(self, kind: str, objects: int) -> None:
        """Take note of a sign of life."""
        state = self._states[kind]
        state.seen, state.objects, state.trouble = self._clock(), objects, ""

    def failed(self, kind: str, trouble: str, *, is_lost: bool = False) -> None:
        """Take note that a kind cannot be read; its objects stay as they are.

        Args:
            kind: Which.
            trouble: Why, one sentence; logged where it is news.
            is_lost: Whether what we know is no longer to be trusted.
        """
        state = self._states[kind]
        if trouble != state.trouble:
            log.warning("kind_unreadable", extra={"fields": {"kind": kind, "error": trouble}})
        state.trouble = trouble
        state.synced = state.synced and not is_lost

    def note(self, origin: str, sentences: Iterable[str]) -> None:
        """Replace what a source says about objects that never reached the snapshot."""
        self._notes[origin] = tuple(sentences)

    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each object that does not parse or is not accepted."""
        noted = (sentence for sentences in self._notes.values() for sentence in sentences)
        return (*self._snapshot.problems, *noted)

    def troubled(self) -> Counter[str]:
        """Return how many problems there are by kind of object, or by the source that noted them.

        Every kind that is read is there, with 0 where all is well.
        """
        found = Counter(dict.fromkeys(self._states, 0))
        found.update(kind for kind, _, _ in self._snapshot.faults)
        found.update({origin: len(sentences) for origin, sentences in self._notes.items()})
        return found

    def states(self) -> dict[str, State]:
        """Return the state of each kind, by its name."""
        return self._states

    def staleness(self, kind: str) -> float:
        """Return the seconds since a kind's last sign of life; infinite before the first."""
        seen = self._states[kind].seen
        return math.inf if seen is None else max(0.0, self._clock() - seen)

    def missing(self) -> list[str]:
        """Return what is missing before the snapshot can be trusted, one sentence a kind."""
        sentences = (self._missing(kind, state) for kind, state in self._states.items())
        return [sentence for sentence in sentences if sentence]

    def _missing(self, kind: str, state: State) -> str:
        reason = f": {state.trouble}" if state.trouble else ""
        if not state.synced:
            return f"{kind}: not synced yet{reason}"
        age = self.staleness(kind)
        if age > self._max_staleness:
            return (
                f"{kind}: no event or bookmark for {age:.0f} seconds, "
                f"want at most {self._max_staleness:.0f}{reason}"
            )
        return ""


def _apply(snapshot: Snapshot, batch: Sequence[Change]) -> tuple[Snapshot, Sequence[Change]]:
    """Return the snapshot after a batch, and of the batch what the core could take.

    The core promises to take every object. Should it break that promise, one object must not
    stop all the others, so this is the one place besides the server's edge that catches all.
    """
    try:
        return snapshot.apply(batch), batch
    except Exception:
        log.exception("batch_failed", extra={"fields": {"changes": len(batch)}})
    applied: list[Change] = []
    for change in batch:
        try:
            snapshot = snapshot.apply((change,))
            applied.append(change)
        except Exception:
            log.exception("change_skipped", extra={"fields": {"kind": change.kind}})
    return snapshot, applied
