"""List and watch one kind: pages and events, as the API server sends them.

Knows Kubernetes' list and watch; keeps nothing. Every failure is a CallFailed.
"""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec

from webhook.apiserver.connection import Connection, explain, refusal
from webhook.apiserver.errors import BrokenAnswer, Silent, Unreachable
from webhook.apiserver.kinds import Kind

PAGE_SIZE = 500
ANSWER_SECONDS = 30.0
"""Silence within a list or a single object that means the connection is dead."""
SILENCE_SECONDS = 90.0
"""Silence within a watch. Bookmarks come about once a minute (apiserver's cacher), so 75 s is the
least."""
MAX_LINE = 16 * 1024 * 1024
"""Bytes. An object is at most 3 MiB (the API server's limit), escapes and fields included."""
META_GROUP = "g=meta.k8s.io;v=v1"


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
    there (apiserver's ``cacher.go``, ``shouldDelegateList``); 80,000 objects would be held at
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
    connection: Connection, kind: Kind, version: str, seconds: int
) -> AsyncIterator[Event | None]:
    """Yield None once the API server has accepted the watch, then its events, until it ends it.

    Args:
        connection: Where to ask.
        kind: What to watch.
        version: Where to go on.
        seconds: After how long the API server shall end it.

    Raises:
        CallFailed: Expired where the version is too old: list again.
    """
    query = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(seconds),
    }
    response = await connection.get(kind.path(), query, _accept(kind, ""), SILENCE_SECONDS)
    lines = Lines()
    try:
        yield None
        async for piece in response.content.iter_any():
            for line in lines.feed(piece):
                yield _event(line)
        lines.finish()
    except aiohttp.ServerTimeoutError as err:
        raise Silent(f"watch of {kind.resource}: silent for {SILENCE_SECONDS:.0f} s") from err
    except (aiohttp.ClientError, OSError) as err:
        raise Unreachable(f"watch of {kind.resource}: {explain(err)}") from err
    finally:
        response.close()


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
    response = await connection.get(path, query, accept, ANSWER_SECONDS)
    try:
        async with response:
            return await response.read()
    except aiohttp.ServerTimeoutError as err:
        raise Silent(f"{path}: silent for {ANSWER_SECONDS:.0f} s") from err
    except (aiohttp.ClientError, OSError) as err:
        raise Unreachable(f"{path}: {explain(err)}") from err


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
