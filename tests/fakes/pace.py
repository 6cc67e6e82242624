"""A clock that is just a number, and an alarm that rings at once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from webhook.apiserver.pace import Pace

HANGING_SECONDS = 0.2
"""What hangs in a test hangs for ever: so much real time is enough to see it."""


@dataclass
class FakePace:
    """Time that passes only by sleeping in it.

    Attributes:
        now: Seconds.
        naps: Every sleep that was asked for.
        share: Where in its range a random number falls, 0 to 1.
        is_running: Clear it to let sleepers sleep until it is set.
    """

    now: float = 1000.0
    naps: list[float] = field(default_factory=list)
    share: float = 1.0
    is_running: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Let the time run."""
        self.is_running.set()

    async def sleep(self, seconds: float) -> None:
        """Let the time pass, and others run."""
        self.naps.append(seconds)
        self.now += seconds
        await asyncio.sleep(0.001)
        await self.is_running.wait()

    def uniform(self, low: float, high: float) -> float:
        """Return the number at ``share`` of the range."""
        return low + (high - low) * self.share

    @contextlib.asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """Give up what hangs; then so much time has passed."""
        try:
            async with asyncio.timeout(HANGING_SECONDS):
                yield
        except TimeoutError:
            self.now += seconds
            raise

    @property
    def pace(self) -> Pace:
        """Return it in the form that the code under test takes."""
        return Pace(
            clock=lambda: self.now, sleep=self.sleep, uniform=self.uniform, within=self.within
        )
