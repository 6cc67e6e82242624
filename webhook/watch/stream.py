"""List and watch one kind: pages and events, as the API server sends them.

Knows Kubernetes' list and watch; keeps nothing. Every failure is a CallFailed.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import aiohttp
import msgspec

from webhook.apiserver.connection import Connection, explain, refusal
from webhook.apiserver.errors import BrokenAnswer, Silent, Unreachable
from webhook.apiserver.kinds import Kind

PAGE_SIZE = 500
ANSWER_SECONDS = 30.0
"""Silence within a list or a single object that means the connection is dead."""
WHOLE_SECONDS = 120.0
"""Most that one page or object may take, however steadily it drips."""
SILENCE_SECONDS = 90.0
"""Time without a whole event that means a watch is dead. Bookmarks come about once a minute
(apiserver's cacher), so 75 s is the least."""
MAX_LINE = 16 * 1024 * 1024
"""Bytes. An object is at most 3 MiB (the API server's limit), escapes and fields included."""
PIECE = 64 * 1024
"""Bytes that are cut into lines at a time: a streaming list comes faster than it is taken."""
META_GROUP = "g=meta.k8s.io;v=v1"
INITIAL_END = "k8s.io/initial-events-end"
"""Annotation of the bookmark behind the objects that were there when a watch began."""


class Page(msgspec.Struct):
    """One page of a list.

    Attributes:
        items: Raw objects.
        version: Where a watch goes on.
        more: Token of the next page; empty on the last.
    """

    items: list[dict[str, Any]]
    version: str
    more: str


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


class _ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "more": "continue"}):
    version: str = ""
    more: str = ""


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[dict[str, Any]] | None = None


_decode_list = msgspec.json.Decoder(_List).decode
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


async def list_pages(connection: Connection, kind: Kind) -> AsyncIterator[Page]:
    """Yield all objects of a kind in pages; the last page's version is where a watch goes on.

    The read is consistent, not ``resourceVersion=0``: that would be answered from a cache that
    may be behind what we knew before, and in one piece, since the API server ignores ``limit``
    there (apiserver's ``cacher.go``, ``computeListLimit``); 80,000 objects would be held at
    once.

    Raises:
        CallFailed: Expired where the pages were read too slowly: begin again.
    """
    query = {"limit": str(PAGE_SIZE)}
    while True:
        body = await _read(connection, kind.path(), query, _accept(kind, "List"))
        try:
            found = _decode_list(body)
        except msgspec.MsgspecError as err:
            raise BrokenAnswer(f"list of {kind.resource}: {err}") from err
        page = Page(found.items or [], found.metadata.version, found.metadata.more)
        yield page
        if not page.more:
            return
        query = {"limit": str(PAGE_SIZE), "continue": page.more}


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
    async with _bounded(about, SILENCE_SECONDS):
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
        async with _bounded(about, SILENCE_SECONDS, loop.time() - heard):
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
    body = await _read(connection, kind.path(namespace, name), {}, _accept(kind, ""))
    try:
        return _decode_object(body)
    except msgspec.MsgspecError as err:
        raise BrokenAnswer(f"{kind.name} {namespace}/{name}: {err}") from err


async def _read(connection: Connection, path: str, query: dict[str, str], accept: str) -> bytes:
    async with (
        _bounded(path, WHOLE_SECONDS),
        await connection.get(path, query, accept, ANSWER_SECONDS) as response,
    ):
        return await response.read()


@contextlib.asynccontextmanager
async def _bounded(about: str, seconds: float, spent: float = 0.0) -> AsyncIterator[None]:
    """Say in our words that an answer broke off, or that nothing whole came for so long."""
    try:
        async with asyncio.timeout(seconds - spent):
            yield
    except TimeoutError as err:
        raise Silent(f"{about}: nothing whole came for {seconds:.0f} s") from err
    except (aiohttp.ClientError, OSError) as err:
        raise Unreachable(f"{about}: {explain(err)}") from err


def _event(line: bytes) -> Event:
    try:
        event = _decode_event(line)
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
