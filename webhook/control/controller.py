"""The leader's work: look at what changed, and at everything now and then.

Joins queue, statuses, nodes and leftovers; decides when, not what. All replicas follow the changes,
so that a new leader begins with what it knows.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from policies import names
from policies.changes import Change
from policies.snapshot import Snapshot
from webhook.apiserver.pace import Pace
from webhook.control import keys
from webhook.control.keys import Key
from webhook.control.leftovers import Leftovers
from webhook.control.nodes import Nodes
from webhook.control.observed import Observed
from webhook.control.queue import WorkQueue
from webhook.control.statuses import Statuses

WORKERS = 4
PODS_SECONDS = 300.0
"""Between two lists of all pods."""
EVERYTHING_SECONDS = 600.0
"""Between two looks at every object, should an event ever be missed."""
SYNC_SECONDS = 0.1


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
        self, world: World, statuses: Statuses, nodes: Nodes, leftovers: Leftovers, pace: Pace
    ) -> None:
        """Join the parts; nothing is written before `lead`."""
        self._world = world
        self._statuses = statuses
        self._nodes = nodes
        self._leftovers = leftovers
        self._pace = pace
        self._queue: WorkQueue[Key] | None = None
        self._news: list[tuple[Sequence[Change], Snapshot, Snapshot]] = []
        self._told = asyncio.Event()

    def follow(self, changes: Sequence[Change], before: Snapshot, after: Snapshot) -> None:
        """Take note of changes; while leading, look at what they concern.

        Requests wait meanwhile, so what they concern is worked out later.
        """
        self._world.observed.follow(changes)
        if self._queue is not None:
            self._news.append((changes, before, after))
            self._told.set()
            if any(change.kind == names.NETWORK for change in changes):
                self._nodes.hurry()

    def waiting(self) -> int:
        """Return how many objects are to be looked at."""
        return 0 if self._queue is None else len(self._queue)

    async def ready(self) -> None:
        """Wait until all is known; who knows nothing yet had better not lead."""
        while not self._world.is_synced():
            await self._pace.sleep(SYNC_SECONDS)

    async def lead(self) -> None:
        """Work until cancelled."""
        await self.ready()
        try:
            await self._nodes.count()
            await self._leftovers.list_all()
            await self._work()
        finally:
            self._nodes.forget()
            self._leftovers.forget()
            self._statuses.forget()

    async def _work(self) -> None:
        queue = self._queue = WorkQueue(self._pace)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._look_at_news(queue))
                group.create_task(self._look_at_nodes(queue))
                group.create_task(self._look_at_pods(queue))
                group.create_task(self._look_at_everything(queue))
                for _ in range(WORKERS):
                    group.create_task(queue.work(self._statuses.settle))
        finally:
            self._queue = None
            self._news = []
            queue.close()

    async def _look_at_news(self, queue: WorkQueue[Key]) -> NoReturn:
        while True:
            await self._told.wait()
            self._told.clear()
            news, self._news = self._news, []
            for changes, before, after in news:
                await queue.pour(keys.affected(changes, before, after))

    async def _look_at_nodes(self, queue: WorkQueue[Key]) -> NoReturn:
        """Look at all networks when nodes advertise something else than before."""

        def recount() -> None:
            networks = self._world.current().networks
            queue.add(Key(names.NETWORK, "", name) for name in networks)

        await self._nodes.run(recount)

    async def _look_at_everything(self, queue: WorkQueue[Key]) -> NoReturn:
        while True:
            await queue.pour(keys.every(self._world.current()))
            await self._pace.sleep(EVERYTHING_SECONDS)

    async def _look_at_pods(self, queue: WorkQueue[Key]) -> NoReturn:
        while True:
            await self._pace.sleep(PODS_SECONDS)
            before = self._leftovers.namespaces()
            await self._leftovers.list_all()
            spaces = {*before, *self._leftovers.namespaces()}
            await queue.pour(Key(names.POLICY, space, names.POLICY_NAME) for space in spaces)
