"""Health, readiness and metrics in plain HTTP."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from webhook.server.listener import Listener
from webhook.server.metrics import Metrics
from webhook.server.probes import Probes

Get = tuple[list[str], str]


@pytest.fixture
async def probe() -> AsyncIterator[Get]:
    """Return what is missing (to be filled) and the server's address."""
    missing: list[str] = []
    listener = await Listener.open(Probes(lambda: missing, Metrics("1")), "127.0.0.1", 0)
    yield missing, f"http://127.0.0.1:{listener.port}"
    await listener.close(0.1)


async def test_ready_when_nothing_is_missing(probe: Get) -> None:
    """200 and a word."""
    async with aiohttp.ClientSession(probe[1]) as client, client.get("/readyz") as response:
        assert (response.status, await response.text()) == (200, "ready\n")


async def test_not_ready_says_what_is_missing(probe: Get) -> None:
    """503, one line for each thing."""
    probe[0].extend(["RDMAPolicy: not synced yet", "stopping"])
    async with aiohttp.ClientSession(probe[1]) as client, client.get("/readyz") as response:
        assert response.status == 503
        assert await response.text() == "RDMAPolicy: not synced yet\nstopping\n"


async def test_alive_also_when_not_ready(probe: Get) -> None:
    """A restart would not help: liveness does not depend on the cluster."""
    probe[0].append("RDMAPolicy: not synced yet")
    async with aiohttp.ClientSession(probe[1]) as client, client.get("/healthz") as response:
        assert (response.status, await response.text()) == (200, "ok\n")


async def test_metrics_are_prometheus_text(probe: Get) -> None:
    """A scraper finds the format it asks for."""
    async with aiohttp.ClientSession(probe[1]) as client, client.get("/metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert "rdma_webhook_build_info" in await response.text()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/mutate", 404), ("POST", "/readyz", 405), ("HEAD", "/healthz", 200)],
)
async def test_other_requests_are_refused_with_a_sentence(
    probe: Get, method: str, path: str, status: int
) -> None:
    """Reviews are not answered here, and probes are read only."""
    async with (
        aiohttp.ClientSession(probe[1]) as client,
        client.request(method, path) as response,
    ):
        assert response.status == status
        if status == 405:
            assert response.headers["Allow"] == "GET, HEAD"
