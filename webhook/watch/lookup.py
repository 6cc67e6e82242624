"""One live look at an object that the watch has not told us about yet.

Knows reflectors and time. Bounded: a quarter of a second, one request for all who ask for the
same object, and who was asked for, found or not, is not asked for again for a second.
"""

import asyncio
import logging
from collections.abc import Mapping

from webhook.apiserver.connection import Connection
from webhook.apiserver.errors import CallFailed
from webhook.apiserver.pace import Pace
from webhook.watch import stream
from webhook.watch.reflector import Reflector

LOOK_SECONDS = 0.25
FORGET_SECONDS = 1.0
MAX_REMEMBERED = 10_000
LONGEST_NAME = 253
"""Characters: no object of Kubernetes has a longer name, so it is not asked for."""

log = logging.getLogger(__name__)


class Lookup:
    """Reads single objects, past the watch."""

    def __init__(
        self, connection: Connection, reflectors: Mapping[str, Reflector], pace: Pace
    ) -> None:
        """Join the parts.

        Args:
            connection: Where to ask.
            reflectors: Who takes what is found, by kind.
            pace: The clock.
        """
        self._connection = connection
        self._reflectors = reflectors
        self._pace = pace
        self._flights: dict[tuple[str, str, str], asyncio.Task[None]] = {}
        self._recent: dict[tuple[str, str, str], float] = {}

    async def fetch(self, kind: str, namespace: str, name: str) -> None:
        """Put an object into the snapshot if the API server has it; raises nothing.

        Args:
            kind: ``RDMAPolicy``, …; one that is not read is not asked for.
            namespace: Empty for kinds without one.
            name: Of the object.
        """
        key = (kind, namespace, name)
        reflector = self._reflectors.get(kind)
        if reflector is None or max(len(namespace), len(name)) > LONGEST_NAME:
            return
        if self._recent.get(key, 0.0) > self._pace.clock():
            return
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._look(reflector, key))
            self._flights[key] = flight
            flight.add_done_callback(lambda _: self._flights.pop(key, None))
        # Whoever started it may give up; the others still wait for the same answer.
        await asyncio.shield(flight)

    async def _look(self, reflector: Reflector, key: tuple[str, str, str]) -> None:
        _, namespace, name = key
        before = reflector.known.sighting((namespace, name))
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                found = await stream.get_one(self._connection, reflector.kind, namespace, name)
            reflector.put(found, before)
        except (CallFailed, TimeoutError) as err:
            log.debug("lookup_failed", extra={"fields": {"object": key, "error": str(err)}})
        self._remember(key)

    def _remember(self, key: tuple[str, str, str]) -> None:
        """Remember a look, and forget those that are over: the oldest comes first."""
        now = self._pace.clock()
        self._recent.pop(key, None)
        while self._recent:
            oldest, until = next(iter(self._recent.items()))
            if until > now:
                break
            del self._recent[oldest]
        if len(self._recent) < MAX_REMEMBERED:
            self._recent[key] = now + FORGET_SECONDS

    @property
    def remembered(self) -> int:
        """How many looks are remembered."""
        return len(self._recent)
