"""Listening, and stopping without cutting anyone off."""

import asyncio

import aiohttp
import pytest
from aiohttp import web

from webhook.server.listener import KEEPALIVE_SECONDS, Listener


class Slow:
    """A handler that answers when it is let."""

    def __init__(self) -> None:
        """Begin with nobody inside."""
        self.entered = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, _: web.BaseRequest) -> web.StreamResponse:
        """Wait, then answer."""
        self.entered.set()
        await self.may_answer.wait()
        return web.Response(text="done")


async def test_port_0_is_a_real_port() -> None:
    """Whoever asks for any port learns which one it is."""
    one = await Listener.open(Slow(), "127.0.0.1", 0)
    other = await Listener.open(Slow(), "127.0.0.1", 0)
    assert 0 < one.port != other.port > 0
    with pytest.raises(OSError, match="in use"):
        await Listener.open(Slow(), "127.0.0.1", one.port)
    await one.close(0)
    await other.close(0)


async def test_a_request_under_way_is_answered_before_the_end() -> None:
    """Closing waits for answers; new connections are refused meanwhile."""
    handler = Slow()
    listener = await Listener.open(handler, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.port}"
    async with aiohttp.ClientSession() as client:
        request = asyncio.create_task(client.get(url))
        await handler.entered.wait()
        closing = asyncio.create_task(listener.close(30))
        await asyncio.sleep(0)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", listener.port)
        handler.may_answer.set()
        async with await request as response:
            assert await response.text() == "done"
        await closing


async def test_idle_connections_do_not_hold_the_end_up() -> None:
    """A kept connection without a request is closed at once."""
    listener = await Listener.open(Slow(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    await asyncio.sleep(0.01)
    await asyncio.wait_for(listener.close(30), 10)
    assert await reader.read() == b""
    writer.close()


def test_connections_are_kept_longer_than_the_api_server_keeps_them() -> None:
    """Its idle timeout is 90 s; were ours shorter, its next POST would race our close."""
    assert KEEPALIVE_SECONDS > 90
