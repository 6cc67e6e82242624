"""The cluster as a source of objects: one reflector a kind, and single look-ups.

Knows which kinds there are and starts everything; the work is done by its neighbours.
"""

import asyncio

from webhook.apiserver.connection import Connection
from webhook.apiserver.kinds import KINDS
from webhook.apiserver.pace import Pace
from webhook.watch.cache import Cache
from webhook.watch.lookup import Lookup
from webhook.watch.reflector import Reflector


class Cluster:
    """Keeps a cache equal to a cluster."""

    def __init__(self, connection: Connection, cache: Cache, pace: Pace) -> None:
        """Join the parts; nothing is read yet."""
        self._reflectors = {kind.name: Reflector(kind, connection, cache, pace) for kind in KINDS}
        self._lookup = Lookup(connection, self._reflectors, pace)

    async def run(self) -> None:
        """Read every kind, for ever."""
        async with asyncio.TaskGroup() as group:
            for reflector in self._reflectors.values():
                group.create_task(reflector.run())

    async def fetch(self, kind: str, namespace: str, name: str) -> None:
        """Put one object into the snapshot if the cluster has it; raises nothing."""
        await self._lookup.fetch(kind, namespace, name)
