"""Time and chance, handed in so that tests need neither: waiting, jitter, backoff."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

FIRST_SECONDS = 0.5
CEILING_SECONDS = 30.0
HEALTHY_SECONDS = 60.0
"""A connection that lived this long was healthy: the next failure is a first one again."""
PATIENCE_SECONDS = 300.0
"""Most we stay away because an answer's Retry-After says so."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The clock, the alarm and the dice.

    Attributes:
        clock: Seconds from any start, never going back.
        sleep: Waits so many seconds.
        uniform: Returns a random number between two.
        within: Returns a context that ends with TimeoutError after so many seconds.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform
    within: Callable[[float], AbstractAsyncContextManager[object]] = asyncio.timeout


class Backoff:
    """How long to stay away after each failure: full jitter under a ceiling that doubles."""

    def __init__(self, pace: Pace) -> None:
        """Begin as after no failure."""
        self._pace = pace
        self._failures = 0

    def next(self, at_least: float = 0.0) -> float:
        """Return the seconds to wait after one more failure.

        Args:
            at_least: What the other side asked for.
        """
        ceiling = min(CEILING_SECONDS, FIRST_SECONDS * 2 ** min(self._failures, 16))
        self._failures += 1
        return max(min(at_least, PATIENCE_SECONDS), self._pace.uniform(0.0, ceiling))

    def lived(self, seconds: float) -> None:
        """Forget the failures before a connection that lived for a minute or longer."""
        if seconds >= HEALTHY_SECONDS:
            self._failures = 0
