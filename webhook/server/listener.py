"""Sockets: listen for one handler, and stop without cutting anyone off.

Knows the event loop and aiohttp's low-level server.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from typing import Self

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

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
        connections = web.Server(
            handler,
            access_log=None,
            logger=protocol_log,
            keepalive_timeout=KEEPALIVE_SECONDS,
            lingering_time=LINGER_SECONDS,
            read_bufsize=READ_BUFFER,
            auto_decompress=False,
        )
        server = await asyncio.get_running_loop().create_server(
            connections,
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
