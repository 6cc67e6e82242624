"""All kinds together."""

import asyncio
import contextlib

from tests.fakes.apiserver import FakeAPI
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from webhook.apiserver.connection import Connection
from webhook.watch.cache import Cache
from webhook.watch.cluster import Cluster


async def test_every_kind_is_read_and_then_we_are_ready(
    api: FakeAPI, connection: Connection, cache: Cache, fake_pace: FakePace
) -> None:
    """Readiness needs every kind, and a cluster source reads every kind."""
    api.put("Namespace", "team")
    api.put("NetworkAttachmentDefinition", "a", "team")
    cluster = Cluster(connection, cache, fake_pace.pace)
    running = asyncio.create_task(cluster.run())
    await eventually(lambda: not cache.missing())
    assert cache.current().nad("team", "a") is not None
    api.put("NetworkAttachmentDefinition", "b", "team")
    await cluster.fetch("NetworkAttachmentDefinition", "team", "b")
    assert cache.current().nad("team", "b") is not None
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
