"""A fake API server, a clock and the way between, for every room that talks to one."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.apiserver import FakeAPI, LoopbackAccess
from tests.fakes.pace import FakePace
from webhook.apiserver.connection import Connection


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
def access(api: FakeAPI) -> LoopbackAccess:
    """Return the way to the API server."""
    return LoopbackAccess(api.base)


@pytest.fixture
async def connection(access: LoopbackAccess) -> AsyncIterator[Connection]:
    """Return an open connection to the API server."""
    found = Connection(access)
    yield found
    await found.close()
