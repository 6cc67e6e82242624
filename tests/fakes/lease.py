"""A Lease in memory that several replicas compete for, with the API server's concurrency."""

import asyncio
from dataclasses import dataclass, field

from webhook.apiserver.errors import CallFailed, Conflict, KindAbsent
from webhook.control.lease import HOLD_SECONDS, Record


@dataclass
class FakeLease:
    """One Lease; every replica holds the same object.

    Attributes:
        record: What it says.
        trouble: Raised by the next calls, oldest first.
        is_down: Whether every call fails.
        hangs: Whether every call is answered never, though writes arrive.
        lost: How many of the next writes arrive without an answer.
    """

    record: Record = field(default_factory=Record)
    trouble: list[CallFailed] = field(default_factory=list)
    is_down: bool = False
    hangs: bool = False
    lost: int = 0

    async def read(self) -> Record:
        """Return what it says."""
        self._stumble()
        await self._hang()
        return self.record

    async def write(self, seen: Record, holder: str) -> Record:
        """Take, keep or release it."""
        self._stumble()
        if seen.version and not self.record.version:
            raise KindAbsent("API server: 404: not found")
        if seen.version != self.record.version:
            raise Conflict("API server: 409: changed meanwhile")
        version = str(int(self.record.version or "0") + 1)
        hold = HOLD_SECONDS if holder else 1
        self.record = Record(holder=holder, renewed=version, version=version, hold=hold)
        if self.lost:
            self.lost -= 1
            raise CallFailed("API server: the answer was cut off")
        await self._hang()
        return self.record

    def delete(self) -> None:
        """Take it away."""
        self.record = Record()

    async def _hang(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()

    def _stumble(self) -> None:
        if self.trouble:
            raise self.trouble.pop(0)
        if self.is_down:
            raise CallFailed("API server: cannot connect")
