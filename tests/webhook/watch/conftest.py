"""A fake API server, a clock and a cache for every test of this room."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.fakes.apiserver import FakeAPI, LoopbackAccess
from tests.fakes.pace import FakePace
from webhook.watch.cache import Cache
from webhook.watch.connection import Connection
from webhook.watch.kinds import KINDS


@pytest.fixture
async def api() -> AsyncIterator[FakeAPI]:
    """Return an API server without objects."""
    async with FakeAPI() as found:
        yield found


@pytest.fixture
def fake_pace() -> FakePace:
    """Return a clock that only sleeping moves."""
    return FakePace()


@pytest.fixture
def cache(fake_pace: FakePace) -> Cache:
    """Return a cache that waits for every kind."""
    return Cache(
        Snapshot.empty(Rules()),
        [kind.name for kind in KINDS],
        timedelta(minutes=10),
        fake_pace.pace.clock,
    )


@pytest.fixture
def access(api: FakeAPI) -> LoopbackAccess:
    """Return the way to the API server."""
    return LoopbackAccess(api.base)


@pytest.fixture
async def connection(access: LoopbackAccess) -> AsyncIterator[Connection]:
    """Return an open connection to the API server."""
    found = Connection(access)
    yield found
    await found.close()
