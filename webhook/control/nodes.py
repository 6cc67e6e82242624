"""Which extended resources the nodes advertise: counted by the leader, in pages, now and then.

Nodes change all the time (heartbeats), so they are listed and not watched: soon after a network
changed, and then ever more rarely.
"""

import logging
from collections.abc import Callable
from typing import NoReturn

import msgspec

from policies.rules import Rules
from webhook.apiserver.connection import JSON, Connection
from webhook.apiserver.errors import CallFailed
from webhook.apiserver.lists import pages
from webhook.apiserver.pace import Pace

PATH = "/api/v1/nodes"
PAGE = {"limit": "25"}
"""A node is some 15 KB, and a page is read in one turn of the loop: below a millisecond."""
SOON_SECONDS = 2.0
LATE_SECONDS = 60.0

log = logging.getLogger(__name__)


class _Status(msgspec.Struct):
    allocatable: dict[str, str] | None = None


class _Node(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


class Nodes:
    """What nodes advertise.

    Attributes:
        advertised: Governed resources of which some node has one or more; None before the first
            count.
    """

    def __init__(self, connection: Connection, rules: Rules, pace: Pace) -> None:
        """Join the parts.

        Args:
            connection: Where to ask.
            rules: Which resources are governed.
            pace: The clock.
        """
        self._connection = connection
        self._rules = rules
        self._pace = pace
        self._wait = SOON_SECONDS
        self._trouble = ""
        self.advertised: frozenset[str] | None = None

    def hurry(self) -> None:
        """Count again soon: networks have changed."""
        self._wait = SOON_SECONDS

    async def run(self, changed: Callable[[], None]) -> NoReturn:
        """Count for ever, ever more rarely while nothing hurries; the first count was made before.

        Args:
            changed: Called when a count came to something else than the one before.
        """
        while True:
            waited = 0.0
            while waited < self._wait:
                await self._pace.sleep(SOON_SECONDS)
                waited += SOON_SECONDS
            self._wait = min(LATE_SECONDS, self._wait * 2)
            if await self.count():
                changed()

    def forget(self) -> None:
        """Know nothing any more: what nodes advertise is another leader's to count."""
        self.advertised = None
        self.hurry()

    async def count(self) -> bool:
        """Count once, and tell whether it came to something else than before.

        The last count is kept where nodes cannot be listed.
        """
        found: set[str] = set()
        try:
            async for page in pages(self._connection, PATH, PAGE, JSON, _Node):
                for node in page:
                    found.update(self._of(node))
        except CallFailed as err:
            if str(err) != self._trouble:
                log.warning("nodes_unreadable", extra={"fields": {"error": str(err)}})
            self._trouble = str(err)
            return False
        self._trouble = ""
        before, self.advertised = self.advertised, frozenset(found)
        return before != self.advertised

    def _of(self, node: _Node) -> list[str]:
        allocatable = node.status.allocatable or {}
        return [
            name
            for name, number in allocatable.items()
            if number != "0" and self._rules.is_governed(name)
        ]
