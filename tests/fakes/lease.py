"""A Lease in memory that several replicas compete for, with the API server's concurrency."""

from dataclasses import dataclass, field

from webhook.apiserver.errors import CallFailed, Conflict
from webhook.control.lease import HOLD_SECONDS, Record


@dataclass
class FakeLease:
    """One Lease; every replica holds the same object.

    Attributes:
        record: What it says.
        trouble: Raised by the next calls, oldest first.
        is_down: Whether every call fails.
    """

    record: Record = field(default_factory=Record)
    trouble: list[CallFailed] = field(default_factory=list)
    is_down: bool = False

    async def read(self) -> Record:
        """Return what it says."""
        self._stumble()
        return self.record

    async def write(self, seen: Record, holder: str) -> Record:
        """Take, keep or release it."""
        self._stumble()
        if seen.version != self.record.version:
            raise Conflict("API server: 409: changed meanwhile")
        version = str(int(self.record.version or "0") + 1)
        hold = HOLD_SECONDS if holder else 1
        self.record = Record(holder=holder, renewed=version, version=version, hold=hold)
        return self.record

    def _stumble(self) -> None:
        if self.trouble:
            raise self.trouble.pop(0)
        if self.is_down:
            raise CallFailed("API server: cannot connect")
