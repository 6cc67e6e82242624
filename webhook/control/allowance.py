"""How often the API server may be asked: a burst at once, then evenly.

Knows time; not what is asked. However many objects need a write, the API server and the requests
that share our processor have room left.
"""

from webhook.apiserver.pace import Pace


class Allowance:
    """Turns to take, so many a second."""

    def __init__(self, pace: Pace, per_second: float, burst: int) -> None:
        """Begin with a whole burst."""
        self._pace = pace
        self._step = 1.0 / per_second
        self._slack = self._step * burst
        self._due = pace.clock() - self._slack

    async def take(self) -> None:
        """Wait for a turn."""
        now = self._pace.clock()
        self._due = max(self._due, now - self._slack) + self._step
        if self._due > now:
            await self._pace.sleep(self._due - now)
