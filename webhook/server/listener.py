"""Sockets: listen for one handler, and stop without cutting anyone off.

Knows the event loop and aiohttp's low-level server.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Self

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from webhook.server import replies

KEEPALIVE_SECONDS = 120.0
"""Above the API server's 90 s, else its next POST races our close and fails with EOF. It also
bounds a connection that sends no complete request head."""
LINGER_SECONDS = 2.0
"""How long the rest of a refused body is read away, so that the client sees the answer."""
HANDSHAKE_SECONDS = 10.0
"""The API server's own TLS handshake timeout."""
READ_BUFFER = 256 * 1024
BACKLOG = 1024

protocol_log = logging.getLogger(f"{__name__}.protocol")


def is_worth_a_line(record: logging.LogRecord) -> bool:
    """Turn aiohttp's complaints about clients that speak no HTTP into debug lines."""
    err = record.exc_info[1] if record.exc_info else None
    if isinstance(err, HttpProcessingError):
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        return protocol_log.isEnabledFor(logging.DEBUG)
    return True


protocol_log.addFilter(is_worth_a_line)


class Conversation(web.RequestHandler):
    """One connection, whose errors are sentences of ours: aiohttp's own show what was sent."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the answer to what no handler was asked about, or could not answer."""
        super().handle_error(request, status, exc, message)
        response = replies.no_http() if status == HTTPStatus.BAD_REQUEST else replies.broken()
        response.force_close()
        return response


class Listener:
    """A listening socket with its connections.

    Attributes:
        port: The port that was bound.
    """

    def __init__(self, connections: web.Server, server: asyncio.Server) -> None:
        """Keep both; use :meth:`open` to make one."""
        self._connections = connections
        self._server = server
        self.port = int(server.sockets[0].getsockname()[1])

    @classmethod
    async def open(
        cls,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        host: str,
        port: int,
        context: ssl.SSLContext | None = None,
    ) -> Self:
        """Listen.

        Args:
            handler: Answers each request.
            host: Name or address.
            port: 0 = any.
            context: TLS; None = plain HTTP.

        Raises:
            OSError: The address cannot be had.
        """
        connections = web.Server(handler)
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {
            "access_log": None,
            "logger": protocol_log,
            "keepalive_timeout": KEEPALIVE_SECONDS,
            "lingering_time": LINGER_SECONDS,
            "read_bufsize": READ_BUFFER,
            "auto_decompress": False,
        }
        conversation = partial(Conversation, connections, loop=loop, **options)
        server = await loop.create_server(
            conversation,
            host,
            port,
            ssl=context,
            backlog=BACKLOG,
            ssl_handshake_timeout=HANDSHAKE_SECONDS if context else None,
        )
        return cls(connections, server)

    async def close(self, seconds: float) -> None:
        """Stop listening, let requests end for so long, then close every connection."""
        self._server.close()
        self._connections.pre_shutdown()
        await self._connections.shutdown(seconds)
