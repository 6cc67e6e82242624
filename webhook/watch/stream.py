"""List and watch one kind: pages and events, as the API server sends them.

Knows Kubernetes' list and watch; keeps nothing. Every failure is a CallFailed.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import aiohttp
import msgspec

from webhook.apiserver.answers import bounded, read
from webhook.apiserver.connection import Connection, refusal
from webhook.apiserver.depth import decoded
from webhook.apiserver.errors import BrokenAnswer
from webhook.apiserver.kinds import Kind
from webhook.apiserver.lists import Page, pages

PAGE_SIZE = 500
SILENCE_SECONDS = 90.0
"""Time without a whole event that means a watch is dead. Bookmarks come about once a minute
(apiserver's cacher), so 75 s is the least."""
MAX_LINE = 16 * 1024 * 1024
"""Bytes. An object is at most 3 MiB (the API server's limit), escapes and fields included."""
PIECE = 64 * 1024
"""Bytes that are cut into lines at a time: a streaming list comes faster than it is taken."""
Raw = dict[str, Any]
"""An object as the API server sends it."""
META_GROUP = "g=meta.k8s.io;v=v1"
INITIAL_END = "k8s.io/initial-events-end"
"""Annotation of the bookmark behind the objects that were there when a watch began."""


class Event(msgspec.Struct):
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK; an ERROR is raised instead."""

    type: str
    object: dict[str, Any]

    @property
    def is_initial_end(self) -> bool:
        """Whether all objects that were there when the watch began came before it."""
        metadata = self.object.get("metadata")
        marks = metadata.get("annotations") if isinstance(metadata, dict) else None
        return isinstance(marks, dict) and marks.get(INITIAL_END) == "true"


_decode_event = msgspec.json.Decoder(Event).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class Lines:
    """Cuts a stream of bytes into lines, wherever its pieces were cut."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        """Begin with an empty rest."""
        self._rest = bytearray()
        self._limit = limit

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that are whole now, without their ends; blank ones are left out.

        Raises:
            BrokenAnswer: A line is above the limit.
        """
        self._rest += piece
        if b"\n" not in piece:
            lines = []
        else:
            *lines, rest = self._rest.split(b"\n")
            self._rest = rest
        if len(self._rest) > self._limit:
            raise BrokenAnswer(f"watch: got a line above {self._limit} bytes")
        return [bytes(line) for line in lines if line.strip()]

    def finish(self) -> None:
        """Do nothing where the stream ended at the end of a line.

        Raises:
            BrokenAnswer: It ended within one.
        """
        if self._rest.strip():
            raise BrokenAnswer(f"watch: ended within a line, after {len(self._rest)} bytes of it")


async def list_pages(connection: Connection, kind: Kind) -> AsyncIterator[Page[Raw]]:
    """Yield all objects of a kind in pages; the last page's version is where a watch goes on.

    The read is consistent, not ``resourceVersion=0``: that would be answered from a cache that
    may be behind what we knew before, and in one piece, since the API server ignores ``limit``
    there (apiserver's ``cacher.go``, ``computeListLimit``); 80,000 objects would be held at
    once.

    Raises:
        CallFailed: Expired where the pages were read too slowly: begin again.
    """
    query = {"limit": str(PAGE_SIZE)}
    async for page in pages(connection, kind.path(), query, _accept(kind, "List"), Raw):
        yield page


async def watch(
    connection: Connection, kind: Kind, version: str | None, seconds: int
) -> AsyncGenerator[Event | None, None]:
    """Yield None once the API server has accepted the watch, then its events, until it ends it.

    Args:
        connection: Where to ask.
        kind: What to watch.
        version: Where to go on; None = begin with an ADDED for every object there is, then a
            bookmark that :attr:`Event.is_initial_end` (KEP 3157, the streaming list).
        seconds: After how long the API server shall end it.

    Raises:
        CallFailed: Expired where the version is too old: list again. Refused where the API server
            does not know how to begin with what there is.
    """
    query = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds)}
    if version is None:
        query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    else:
        query["resourceVersion"] = version
    about = f"watch of {kind.resource}"
    async with bounded(about, SILENCE_SECONDS):
        response = await connection.get(kind.path(), query, _accept(kind, ""), SILENCE_SECONDS)
    try:
        yield None
        async for line in _lines(response.content, about):
            yield _event(line)
    finally:
        response.close()


async def _lines(content: aiohttp.StreamReader, about: str) -> AsyncIterator[bytes]:
    """Yield the lines of a watch; bytes that make no whole line are silence."""
    lines = Lines()
    loop = asyncio.get_running_loop()
    heard = loop.time()
    while True:
        async with bounded(about, SILENCE_SECONDS, loop.time() - heard):
            piece = await content.read(PIECE)
        if not piece:
            break
        found = lines.feed(piece)
        for line in found:
            yield line
        if found:
            heard = loop.time()
    lines.finish()


async def get_one(connection: Connection, kind: Kind, namespace: str, name: str) -> dict[str, Any]:
    """Return one object as the API server has it now.

    Raises:
        CallFailed: KindAbsent where there is no such object (or kind).
    """
    body = await read(connection, kind.path(namespace, name), {}, _accept(kind, ""))
    try:
        return decoded(_decode_object, body)
    except msgspec.MsgspecError as err:
        raise BrokenAnswer(f"{kind.name} {namespace}/{name}: {err}") from err


def _event(line: bytes) -> Event:
    try:
        event = decoded(_decode_event, line)
    except msgspec.MsgspecError as err:
        raise BrokenAnswer(f"watch: a line is no event: {err}") from err
    if event.type == "ERROR":
        code = event.object.get("code")
        raise refusal(code if isinstance(code, int) else 0, str(event.object.get("message", "")))
    return event


def _accept(kind: Kind, suffix: str) -> str:
    if kind.is_partial:
        return f"application/json;as=PartialObjectMetadata{suffix};{META_GROUP}"
    return "application/json"
