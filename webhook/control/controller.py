"""The leader's work: look at what changed, and at everything now and then.

Joins queue, statuses, nodes and pods; decides when, not what. All replicas follow the changes, so
that a new leader begins with what it knows.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from policies import names
from policies.changes import Change
from policies.snapshot import Snapshot
from webhook.apiserver.errors import CallFailed
from webhook.apiserver.pace import Pace
from webhook.control import keys
from webhook.control.keys import Key
from webhook.control.nodes import Nodes
from webhook.control.observed import Observed
from webhook.control.pods import Pods
from webhook.control.queue import WorkQueue
from webhook.control.statuses import Statuses

WORKERS = 4
PODS_SECONDS = 300.0
"""Between two lists of all pods."""
EVERYTHING_SECONDS = 600.0
"""Between two looks at every object, should an event ever be missed."""
SYNC_SECONDS = 0.1

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class World:
    """What the controller sees.

    Attributes:
        current: Returns the newest snapshot.
        is_synced: Tells whether the snapshot holds all there is.
        observed: What each status says now.
    """

    current: Callable[[], Snapshot]
    is_synced: Callable[[], bool]
    observed: Observed


class Controller:
    """Keeps what our objects say of themselves true, while it leads."""

    def __init__(
        self, world: World, statuses: Statuses, nodes: Nodes, pods: Pods, pace: Pace
    ) -> None:
        """Join the parts; nothing is written before `lead`."""
        self._world = world
        self._statuses = statuses
        self._nodes = nodes
        self._pods = pods
        self._pace = pace
        self._queue: WorkQueue[Key] | None = None

    def follow(self, changes: Sequence[Change], before: Snapshot, after: Snapshot) -> None:
        """Take note of changes; while leading, look at what they concern."""
        self._world.observed.follow(changes)
        if self._queue is None:
            return
        self._queue.add(keys.affected(changes, before, after))
        if any(change.kind == names.NETWORK for change in changes):
            self._nodes.hurry()

    def _recount(self) -> None:
        """Look at all networks: nodes advertise something else than before."""
        if self._queue is not None:
            networks = self._world.current().networks
            self._queue.add(Key(names.NETWORK, "", name) for name in networks)

    async def lead(self) -> None:
        """Work until cancelled."""
        while not self._world.is_synced():
            await self._pace.sleep(SYNC_SECONDS)
        await self._nodes.count()
        await self._list_pods()
        queue = self._queue = WorkQueue(self._pace)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._nodes.run(self._recount))
                group.create_task(self._look_at_pods(queue))
                group.create_task(self._look_at_everything(queue))
                for _ in range(WORKERS):
                    group.create_task(queue.work(self._statuses.settle))
        finally:
            self._queue = None
            queue.close()

    async def _look_at_everything(self, queue: WorkQueue[Key]) -> NoReturn:
        while True:
            queue.add(keys.every(self._world.current()))
            await self._pace.sleep(EVERYTHING_SECONDS)

    async def _look_at_pods(self, queue: WorkQueue[Key]) -> NoReturn:
        while True:
            await self._pace.sleep(PODS_SECONDS)
            before = self._pods.namespaces()
            await self._list_pods()
            for namespace in {*before, *self._pods.namespaces()}:
                queue.add([Key(names.POLICY, namespace, names.POLICY_NAME)])

    async def _list_pods(self) -> None:
        """List all pods; where that fails, conditions say that nobody counted."""
        try:
            await self._pods.list_all()
        except CallFailed as err:
            log.warning("pods_unreadable", extra={"fields": {"error": str(err)}})
