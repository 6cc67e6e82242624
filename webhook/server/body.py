"""Read a request's body: bounded in size and in time.

Knows HTTP and aiohttp's streams; does not look into the body.
"""

import asyncio
from collections.abc import Callable

from aiohttp import web

from webhook.server.errors import BodyTooLarge, BrokenBody, SlowBody

MAX_BODY = 8 * 1024 * 1024
"""Bytes. The API server's own limit for an object is 3 MiB, and a review may hold two of them;
controller-runtime caps reviews at 7 MiB."""
READ_SECONDS = 5.0
"""The API server sends a review in one go, within its timeout of at most 30 s."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


async def read_body(
    request: web.BaseRequest,
    limit: int = MAX_BODY,
    patience: float = READ_SECONDS,
    hold: Callable[[int], None] = lambda _: None,
) -> bytes:
    """Return the whole body.

    Args:
        request: Its body must not have been read before.
        limit: Largest body, bytes; judged by Content-Length before and by count while reading.
        patience: Seconds for the whole body.
        hold: Told of so many more bytes before they are kept; may raise.

    Raises:
        BodyTooLarge: Above the limit.
        SlowBody: Not complete in time.
        BrokenBody: It ended early or is not valid HTTP.
    """
    stream = request.content
    try:
        if stream.is_eof() and stream.total_bytes <= limit:
            hold(stream.total_bytes)
            return await stream.readany()
        announced = request.content_length
        if announced is not None and announced > limit:
            raise BodyTooLarge(f"request body: got {announced} bytes, want at most {limit}")
        async with asyncio.timeout(patience):
            return await _collect(request, limit, hold)
    except TimeoutError as err:
        raise SlowBody(f"request body: not complete after {patience:g} seconds") from err
    except (web.RequestPayloadError, ConnectionError) as err:
        raise BrokenBody("request body: ended early, or is not valid HTTP") from err


async def _collect(request: web.BaseRequest, limit: int, hold: Callable[[int], None]) -> bytes:
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(CONTINUE)
        request.writer.output_size = 0
    body = bytearray()
    while chunk := await request.content.readany():
        if len(body) + len(chunk) > limit:
            raise BodyTooLarge(f"request body: got more than {limit} bytes, want at most {limit}")
        hold(len(chunk))
        body += chunk
    return bytes(body)
