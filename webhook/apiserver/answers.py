"""Whole answers to GET requests, within bounds: one that drips for ever is as good as none."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

import aiohttp

from webhook.apiserver.connection import Connection, explain
from webhook.apiserver.errors import Silent, Unreachable

ANSWER_SECONDS = 30.0
"""Silence within an answer that means the connection is dead."""
WHOLE_SECONDS = 120.0
"""Most that one page or object may take, however steadily it drips."""


async def read(connection: Connection, path: str, query: Mapping[str, str], accept: str) -> bytes:
    """Return the body of an answer.

    Raises:
        CallFailed: Silent where it does not come, or not to its end.
    """
    async with (
        bounded(path, WHOLE_SECONDS),
        await connection.get(path, query, accept, ANSWER_SECONDS) as response,
    ):
        return await response.read()


@contextlib.asynccontextmanager
async def bounded(about: str, seconds: float, spent: float = 0.0) -> AsyncIterator[None]:
    """Say in our words that an answer broke off, or that nothing whole came for so long.

    Args:
        about: What was asked for.
        seconds: The bound.
        spent: How much of it is over.

    Raises:
        CallFailed: Silent or Unreachable.
    """
    try:
        async with asyncio.timeout(seconds - spent):
            yield
    except TimeoutError as err:
        raise Silent(f"{about}: nothing whole came for {seconds:.0f} s") from err
    except (aiohttp.ClientError, OSError) as err:
        raise Unreachable(f"{about}: {explain(err)}") from err
