"""One leader among all replicas: who holds the Lease works, the others wait.

Knows a Lease and time. The holder renews; who cannot renew for `RENEW_SECONDS`, counted from when
it last asked with success, stops working before others may begin. Clocks of replicas are never
compared: a Lease is stale when it has not changed for as long as its holder asked for, on our own
clock.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, NoReturn

from webhook.apiserver.errors import CallFailed, Conflict, KindAbsent, Unreachable
from webhook.apiserver.pace import Pace
from webhook.control.lease import HOLD_SECONDS, Lease, Record

RENEW_SECONDS = 10.0
"""A leader that could not renew for so long steps down: less than others wait."""
RETRY_SECONDS = 2.0
JITTER = 1.2
RELEASE_SECONDS = 1.0

Work = Callable[[], Coroutine[Any, Any, None]]

log = logging.getLogger(__name__)


class Election:
    """Runs the leader's work while we lead.

    Attributes:
        leads: Whether we lead now.
    """

    def __init__(self, lease: Lease, identity: str, pace: Pace) -> None:
        """Join the parts.

        Args:
            lease: What replicas compete for.
            identity: Our name in it, another for every process.
            pace: The clock.
        """
        self._lease = lease
        self._identity = identity
        self._pace = pace
        self._seen = Record()
        self._changed = pace.clock()
        self._renewed = 0.0
        """When our last write that arrived was sent."""
        self._trouble = ""
        self.leads = False

    async def run(self, work: Work) -> NoReturn:
        """Compete for ever; cancelled while leading, hand the lead over before the end."""
        while True:
            try:
                if await self._take():
                    await self._reign(work)
            except Exception:
                # Nobody watches this task: it must not end, or this replica never leads again.
                log.exception("leader_failed")
            await self._pace.sleep(self._pace.uniform(RETRY_SECONDS, RETRY_SECONDS * JITTER))

    async def _take(self) -> bool:
        """Take the lead if it is free; tell whether we have it."""
        try:
            await self._read(RENEW_SECONDS)
            if not self._is_free():
                return False
            await self._write(RENEW_SECONDS)
        except CallFailed as err:
            self._say(err)
            return False
        return True

    async def _read(self, seconds: float) -> None:
        """Look at the Lease, for so long at most."""
        async with self._answering(seconds):
            self._note(await self._lease.read())
        self._trouble = ""

    async def _write(self, seconds: float) -> None:
        """Put our name into the Lease, in so many seconds at most."""
        sent = self._pace.clock()
        async with self._answering(seconds):
            self._note(await self._lease.write(self._seen, self._identity))
        self._renewed, self._trouble = sent, ""

    @contextlib.asynccontextmanager
    async def _answering(self, seconds: float) -> AsyncIterator[None]:
        """Wait for an answer for so long at most; silence is a CallFailed like others."""
        try:
            async with self._pace.within(seconds):
                yield
        except TimeoutError as err:
            raise Unreachable("API server: Lease: no answer in time") from err

    def _note(self, found: Record) -> None:
        if found != self._seen:
            self._seen, self._changed = found, self._pace.clock()

    def _is_free(self) -> bool:
        found = self._seen
        # A Lease that asks for a day, whoever wrote it, shall not leave all without a leader.
        held = min(found.hold, HOLD_SECONDS)
        is_stale = self._pace.clock() - self._changed > held
        return not found.holder or found.holder == self._identity or is_stale

    async def _reign(self, work: Work) -> None:
        """Work until the lead is lost or the work fails; then leave nothing running."""
        log.info("leading", extra={"fields": {"identity": self._identity}})
        self.leads = True
        task = asyncio.create_task(work())
        try:
            await self._keep(task)
        finally:
            self.leads = False
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled() and task.exception() is not None:
                log.error("leader_failed", exc_info=task.exception())
            await self._release()
            log.info("not_leading", extra={"fields": {"identity": self._identity}})

    async def _keep(self, task: asyncio.Task[None]) -> None:
        """Renew while the work goes on; return when the lead is lost or the work ended."""
        while not task.done():
            await self._pace.sleep(RETRY_SECONDS)
            left = self._renewed + RENEW_SECONDS - self._pace.clock()
            if left <= 0 or not await self._renew(left):
                return

    async def _renew(self, seconds: float) -> bool:
        """Try to stay the leader, for so long at most; tell whether nobody else is.

        A Lease that was deleted is anybody's.
        """
        try:
            await self._write(seconds)
        except (Conflict, KindAbsent):
            return await self._is_still_ours(seconds)
        except CallFailed as err:
            self._say(err)
        return True

    async def _is_still_ours(self, seconds: float) -> bool:
        """Look who holds the Lease that somebody else wrote."""
        try:
            await self._read(seconds)
        except CallFailed as err:
            self._say(err)
            return True
        return self._seen.holder == self._identity

    async def _release(self) -> None:
        """Give the lead back, so that another replica need not wait.

        Best effort: should somebody else have it by now, the write conflicts.
        """
        if self._seen.holder != self._identity:
            return
        with contextlib.suppress(CallFailed, TimeoutError):
            async with self._pace.within(RELEASE_SECONDS):
                self._note(await self._lease.write(self._seen, ""))

    def _say(self, err: CallFailed) -> None:
        """Log what is wrong with the Lease where it is news."""
        if str(err) != self._trouble:
            log.warning("lease_trouble", extra={"fields": {"error": str(err)}})
        self._trouble = str(err)
