"""What is to be looked at: each key once, however often it was named, and later again if it failed.

Knows keys and time; not what is done with them.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Iterable
from typing import Any, Generic, NoReturn, TypeVar

from webhook.apiserver.pace import CEILING_SECONDS, FIRST_SECONDS, PATIENCE_SECONDS, Pace
from webhook.control.turns import gently

Key = TypeVar("Key", bound=Hashable)
MOST_DOUBLINGS = 16

log = logging.getLogger(__name__)


class WorkQueue(Generic[Key]):
    """Keys in order of first mention."""

    def __init__(self, pace: Pace) -> None:
        """Begin empty."""
        self._pace = pace
        self._waiting: OrderedDict[Key, None] = OrderedDict()
        self._busy: set[Key] = set()
        self._again: dict[Key, asyncio.TimerHandle] = {}
        self._failures: dict[Key, int] = {}
        self._filled = asyncio.Event()

    def add(self, keys: Iterable[Key]) -> None:
        """Have some keys looked at; one that waits already is looked at once."""
        for key in keys:
            self._waiting[key] = None
        if self._waiting:
            self._filled.set()

    async def pour(self, steps: Iterable[Key | None]) -> None:
        """Add many keys, letting others run in between; None is a step without a key."""
        async for key in gently(steps):
            if key is not None:
                self.add([key])

    def __len__(self) -> int:
        """Return how many keys wait or are being looked at."""
        return len(self._waiting) + len(self._busy)

    async def work(self, handle: Callable[[Key], Coroutine[Any, Any, float | None]]) -> NoReturn:
        """Look at keys for ever; several may work at once, never on the same key.

        Args:
            handle: Looks at one key; returns after how many seconds to look again, or None;
                raises Retry where it could not.
        """
        while True:
            key = await self._next()
            self._busy.add(key)
            try:
                delay = await handle(key)
                self._failures.pop(key, None)
            except Retry as err:
                delay = self._backoff(key, err.seconds)
            except Exception:
                # One object must not stop the work on all the others.
                log.exception("key_failed", extra={"fields": {"key": str(key)}})
                delay = self._backoff(key)
            finally:
                self._busy.discard(key)
                if self._waiting:
                    self._filled.set()
            if delay is not None:
                self._later(key, delay)
            # Most keys need nothing: then nothing was awaited, and thousands were one turn.
            await asyncio.sleep(0)

    async def _next(self) -> Key:
        """Return the first key that nobody works on."""
        while True:
            for key in self._waiting:
                if key not in self._busy:
                    del self._waiting[key]
                    return key
            self._filled.clear()
            await self._filled.wait()

    def _later(self, key: Key, delay: float) -> None:
        """Look at a key again after some seconds; a second call replaces the first."""
        known = self._again.pop(key, None)
        if known is not None:
            known.cancel()
        self._again[key] = asyncio.get_running_loop().call_later(delay, self._due, key)

    def _due(self, key: Key) -> None:
        self._again.pop(key, None)
        self.add([key])

    def _backoff(self, key: Key, at_least: float = 0.0) -> float:
        """Return the seconds after one more failure in a row of a key."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        ceiling = min(CEILING_SECONDS, FIRST_SECONDS * 2 ** min(failures - 1, MOST_DOUBLINGS))
        return max(min(at_least, PATIENCE_SECONDS), self._pace.uniform(ceiling / 2, ceiling))

    def close(self) -> None:
        """Forget what is due later."""
        for handle in self._again.values():
            handle.cancel()
        self._again.clear()


class Retry(Exception):
    """A key could not be dealt with right now; it is tried again, later each time."""

    def __init__(self, seconds: float = 0.0) -> None:
        """Keep how long to wait at least, because the other side asked for it."""
        super().__init__()
        self.seconds = seconds
