"""A real TLS server on loopback with a core that does as it is told."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import aiohttp
import pytest

from certs.generated import GeneratedPair
from certs.serving import Serving
from policies.changes import Put
from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.fakes.reviews import FakeCore
from webhook.server.app import MUTATE, VALIDATE, Reviews
from webhook.server.intake import Limits
from webhook.server.ledger import Ledger
from webhook.server.listener import Listener
from webhook.server.metrics import Metrics
from webhook.server.objects import Objects

WAITED_FOR = (
    Put("RDMAPolicy", {"metadata": {"name": "default", "namespace": "team"}, "spec": {}}),
    Put("RDMANetwork", {"metadata": {"name": "default"}, "spec": {}}),
)
"""The objects that `tests.fakes.reviews.not_ready` waits for."""


class Desk:
    """Where the server gets its snapshot; changes when the test says so."""

    def __init__(self) -> None:
        """Begin with an empty snapshot."""
        self.snapshot = Snapshot.empty(Rules())
        self.asked: list[tuple[str, str, str]] = []
        self.fetch_changes = False
        self._event = asyncio.Event()

    def current(self) -> Snapshot:
        """Return the snapshot."""
        return self.snapshot

    async def changed(self) -> None:
        """Wait for the next change."""
        await self._event.wait()

    async def fetch(self, kind: str, namespace: str, name: str) -> None:
        """Remember what was asked for."""
        self.asked.append((kind, namespace, name))
        if self.fetch_changes:
            self.change()

    def change(self, *, brings: bool = True) -> None:
        """Swap the snapshot, for one that knows what pods waited for or one that does not."""
        self.snapshot = Snapshot.empty(Rules()).apply(WAITED_FOR if brings else ())
        self._event.set()
        self._event = asyncio.Event()

    @property
    def objects(self) -> Objects:
        """Return it as the server takes it."""
        return Objects(self.current, self.changed, self.fetch)


@dataclass
class Site:
    """A running server and all that a test wants of it."""

    core: FakeCore
    checks: FakeCore
    desk: Desk
    metrics: Metrics
    reviews: Reviews
    listener: Listener
    client: aiohttp.ClientSession
    trust: ssl.SSLContext

    @property
    def base(self) -> str:
        """Return its address."""
        return f"https://127.0.0.1:{self.listener.port}"

    async def post(self, body: bytes = b"{}", **fields: str) -> aiohttp.ClientResponse:
        """Send a review; keyword arguments are query parameters."""
        headers = {"Content-Type": "application/json"}
        response = await self.client.post(
            f"{self.base}/mutate", data=body, params=fields, headers=headers
        )
        await response.read()
        return response

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a bare TLS connection."""
        return await asyncio.open_connection("127.0.0.1", self.listener.port, ssl=self.trust)


@pytest.fixture
async def desk() -> Desk:
    """Return a desk with an empty snapshot."""
    return Desk()


@pytest.fixture
async def site(desk: Desk) -> AsyncIterator[Site]:
    """Return a running server with small bounds: 4 requests, 6 bodies of 64 KiB, 100 KB held."""
    core, checks, metrics = FakeCore(), FakeCore(), Metrics("test")
    reviews = Reviews(
        {MUTATE: core, VALIDATE: checks},
        desk.objects,
        Ledger(metrics),
        Limits(in_flight=4, arriving=6, held=100_000, body=65536, read=0.5),
    )
    pair = GeneratedPair(["127.0.0.1"], lambda: datetime.now(UTC))
    serving = Serving(pair, lambda: datetime.now(UTC))
    listener = await Listener.open(reviews, "127.0.0.1", 0, serving.context)
    trust = ssl.create_default_context(cadata=pair.bundle.decode())
    connector = aiohttp.TCPConnector(ssl=trust, limit=0)
    async with aiohttp.ClientSession(connector=connector) as client:
        yield Site(core, checks, desk, metrics, reviews, listener, client, trust)
    await listener.close(0.1)
