"""A cache, and reflectors that run, for every test of this room."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.fakes.apiserver import FakeAPI
from tests.fakes.pace import FakePace
from webhook.apiserver.connection import Connection
from webhook.apiserver.kinds import BY_NAME, KINDS
from webhook.watch.cache import Cache
from webhook.watch.reflector import Reflector


@pytest.fixture(params=["stream", "pages"])
async def api(request: pytest.FixtureRequest) -> AsyncIterator[FakeAPI]:
    """Return an API server without objects; all that holds, holds however it sends full lists."""
    async with FakeAPI() as found:
        found.can_stream = request.param == "stream"
        yield found


@pytest.fixture
def cache(fake_pace: FakePace) -> Cache:
    """Return a cache that waits for every kind."""
    return Cache(
        Snapshot.empty(Rules()),
        [kind.name for kind in KINDS],
        timedelta(minutes=10),
        fake_pace.pace.clock,
    )


class Rig:
    """Reflectors that run, and what to ask them."""

    def __init__(self, connection: Connection, cache: Cache, pace: FakePace) -> None:
        """Join the parts."""
        self._connection = connection
        self._pace = pace
        self.cache = cache
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, kind: str) -> Reflector:
        """Run a reflector of a kind in the background."""
        reflector = Reflector(BY_NAME[kind], self._connection, self.cache, self._pace.pace)
        self._tasks.append(asyncio.create_task(reflector.run()))
        return reflector

    async def stop(self) -> None:
        """End the reflectors; one that failed fails the test."""
        for task in self._tasks:
            task.cancel()
        for found in await asyncio.gather(*self._tasks, return_exceptions=True):
            assert isinstance(found, asyncio.CancelledError), repr(found)

    def nads(self, namespace: str = "team") -> set[str]:
        """Return the names of the NADs that the snapshot has in a namespace."""
        return set(self.cache.current().shard(namespace).nads)

    def is_synced(self, kind: str) -> bool:
        """Tell whether the cache trusts a kind."""
        return self.cache.states()[kind].synced

    def trouble(self, kind: str) -> str:
        """Return what is wrong with a kind."""
        return self.cache.states()[kind].trouble


@pytest.fixture
async def rig(connection: Connection, cache: Cache, fake_pace: FakePace) -> AsyncIterator[Rig]:
    """Return a rig that is stopped after the test."""
    found = Rig(connection, cache, fake_pace)
    yield found
    await found.stop()
