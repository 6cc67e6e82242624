"""The waiting room: pods whose policy or networks are only seconds old wait here, briefly.

Knows the core's ``Waiting`` and its doubts, and time; asks through :class:`Objects`. Nobody waits
longer than the caller, and never more than a fixed number.
"""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from policies.snapshot import Snapshot
from webhook.admission.answer import Answer, Waiting
from webhook.server.objects import Objects

CAPACITY = 64
PATIENCE = 1.5
"""Seconds on the snapshot's next changes, after the one live look-up."""

Handle: TypeAlias = Callable[[bytes, Snapshot], Answer | Waiting]


class WaitingRoom:
    """Lets requests wait for the snapshot and handles them again when it changes.

    Attributes:
        present: How many wait now.
        turned_away: How many came when it was full.
    """

    def __init__(
        self,
        handle: Handle,
        objects: Objects,
        *,
        capacity: int = CAPACITY,
        patience: float = PATIENCE,
    ) -> None:
        """Open the room.

        Args:
            handle: The core.
            objects: Where the snapshot comes from.
            capacity: Most requests at a time.
            patience: Seconds a request waits for changes.
        """
        self._handle = handle
        self._objects = objects
        self._capacity = capacity
        self._patience = patience
        self.present = 0
        self.turned_away = 0

    async def settle(self, body: bytes, result: Answer | Waiting, seconds: float) -> Answer:
        """Return the answer to a request that the snapshot is not ready for, or may be behind of.

        Args:
            body: The review, handled again for each newer snapshot.
            result: What handling it gave.
            seconds: Until the caller gives up.
        """
        found = result.answer if isinstance(result, Waiting) else result
        if self._objects.changed is None or found.decision.dry_run or seconds <= 0:
            return found
        if self.present >= self._capacity:
            self.turned_away += 1
            return found
        deadline = asyncio.get_running_loop().time() + seconds
        self.present += 1
        try:
            if isinstance(result, Answer):
                result = await self._look_again(body, result, deadline)
            if isinstance(result, Waiting):
                result = await self._wait(body, result, deadline)
            return result
        finally:
            self.present -= 1

    async def _look_again(self, body: bytes, found: Answer, deadline: float) -> Answer | Waiting:
        """Look the doubted object up, once, and handle the request again if it is another one."""
        before = self._objects.current()
        try:
            if found.doubted is not None:
                await self._fetch(found.doubted, deadline)
        except TimeoutError:
            return found
        now = self._objects.current()
        return found if now is before else self._handle(body, now)

    async def _wait(self, body: bytes, waiting: Waiting, deadline: float) -> Answer:
        """Look each missing object up once, then wait for changes until the deadline."""
        loop = asyncio.get_running_loop()
        asked: set[tuple[str, str, str]] = set()
        ends = deadline
        while True:
            snapshot = self._objects.current()
            missing = (waiting.kind, waiting.namespace, waiting.name)
            try:
                if missing not in asked:
                    asked.add(missing)
                    await self._fetch(missing, deadline)
                    ends = min(deadline, loop.time() + self._patience)
                if self._objects.current() is snapshot:
                    await self._change(ends)
            except TimeoutError:
                return waiting.answer
            if not self._objects.current().knows(*missing):
                continue
            result = self._handle(body, self._objects.current())
            if not isinstance(result, Waiting):
                return result
            waiting = result

    async def _fetch(self, missing: tuple[str, str, str], deadline: float) -> None:
        if self._objects.fetch is not None:
            async with asyncio.timeout_at(deadline):
                await self._objects.fetch(*missing)

    async def _change(self, ends: float) -> None:
        if self._objects.changed is not None:
            async with asyncio.timeout_at(ends):
                await self._objects.changed()
