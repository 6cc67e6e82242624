"""A small API server that lists and watches, and misbehaves when told to."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from webhook.apiserver.kinds import BY_NAME, Kind
from webhook.watch.stream import INITIAL_END

Object = dict[str, Any]
DRIP_SECONDS = 0.01
CUT = b""
"""Sent to a watch, it breaks the connection."""
UNKNOWN_QUESTION = (
    '{"kind":"Status","code":422,"message":"ListOptions.meta.k8s.io \\"\\" is invalid: '
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList "
    'feature gate is enabled"}'
)
"""What Kubernetes 1.37.2 says with the gate off."""


@dataclass
class Refusal:
    """One scripted answer.

    Attributes:
        status: HTTP status.
        text: Body.
        headers: More headers.
        only: The request must have this parameter, if given.
        drips: Whether the body comes byte by byte and never ends.
    """

    status: int
    text: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    drips: bool = False


@dataclass
class Seen:
    """One request as it came."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


class FakeAPI:
    """Serves objects put into it; plain HTTP on loopback.

    Attributes:
        base: Its address.
        seen: Every request, oldest first.
        page: Objects a page, whatever the client asks for; 0 = as asked.
        can_stream: Whether a watch may begin with the objects there are.
        initial: How many of them it sends, and then nothing until told; None = all and the mark.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.base = ""
        self.seen: list[Seen] = []
        self.page = 0
        self.can_stream = True
        self.initial: int | None = None
        self._version = 100
        self._objects: dict[str, dict[tuple[str, str], Object]] = defaultdict(dict)
        self._history: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        self._watches: dict[str, list[asyncio.Queue[bytes | None]]] = defaultdict(list)
        self._script: dict[str, deque[Refusal]] = defaultdict(deque)
        self._runner: web.ServerRunner | None = None

    async def __aenter__(self) -> Self:
        """Listen."""
        server = web.Server(self._handle, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.base = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        for path in list(self._watches):
            self.end_watches(path)
        if self._runner is not None:
            await self._runner.cleanup()

    def put(self, kind: str, name: str, namespace: str = "", **fields: Any) -> Object:  # noqa: ANN401 - any object
        """Add or change an object and tell the watches."""
        path = BY_NAME[kind].path()
        self._version += 1
        metadata: Object = {
            "name": name,
            "resourceVersion": str(self._version),
            "managedFields": [{"manager": "test"}],
        }
        if namespace:
            metadata["namespace"] = namespace
        found = {"kind": kind, "metadata": metadata, **fields}
        is_new = (namespace, name) not in self._objects[path]
        self._objects[path][namespace, name] = found
        self._tell(path, "ADDED" if is_new else "MODIFIED", found)
        return found

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete an object and tell the watches."""
        path = BY_NAME[kind].path()
        self._version += 1
        found = self._objects[path].pop((namespace, name))
        found["metadata"]["resourceVersion"] = str(self._version)
        self._tell(path, "DELETED", found)

    def forget(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete an object without a word, as while nobody was connected."""
        self._version += 1
        del self._objects[BY_NAME[kind].path()][namespace, name]

    def bookmark(self, kind: str) -> None:
        """Tell the watches how far the stream is."""
        self._version += 1
        found = {"kind": kind, "metadata": {"resourceVersion": str(self._version)}}
        self.say(kind, line("BOOKMARK", found))

    def say(self, kind: str, piece: bytes) -> None:
        """Send any bytes to the open watches of a kind."""
        for queue in self._watches[BY_NAME[kind].path()]:
            queue.put_nowait(piece)

    def end_watches(self, path_or_kind: str) -> None:
        """End the open watches of a kind."""
        path = BY_NAME[path_or_kind].path() if path_or_kind in BY_NAME else path_or_kind
        for queue in self._watches[path]:
            queue.put_nowait(None)

    def cut_watches(self, kind: str) -> None:
        """Break the connections of the open watches of a kind."""
        self.say(kind, CUT)

    def restore(self, version: int) -> None:
        """Go back to an older version, as after a restored backup; the objects are up to you."""
        self._version = version
        self._history.clear()

    def refuse(self, kind: str, *refusals: Refusal) -> None:
        """Answer the next requests for a kind, or one of its objects, like this."""
        self._script[BY_NAME[kind].path()].extend(refusals)

    def watching(self, kind: str) -> int:
        """Return how many watches of a kind are open."""
        return len(self._watches[BY_NAME[kind].path()])

    def requests(self, kind: Kind | str, *, watch: bool) -> list[Seen]:
        """Return the pages, or the watches from a version on, that were asked for."""
        path = (BY_NAME[kind] if isinstance(kind, str) else kind).path()
        return [
            one
            for one in self.seen
            if one.path == path and not _is_streaming(one) and ("watch" in one.query) == watch
        ]

    def lists(self, kind: str) -> list[Seen]:
        """Return the full lists of a kind that were begun, in the way this server can."""
        path = BY_NAME[kind].path()
        return [
            one
            for one in self.seen
            if one.path == path
            and (
                _is_streaming(one)
                if self.can_stream
                else "watch" not in one.query and "continue" not in one.query
            )
        ]

    def _tell(self, path: str, event: str, found: Object) -> None:
        text = line(event, found)
        self._history[path].append((self._version, text))
        for queue in self._watches[path]:
            queue.put_nowait(text)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        query = dict(request.rel_url.query)
        self.seen.append(Seen(request.path, query, dict(request.headers)))
        script = self._script[_collection(request.path)]
        if script and (not script[0].only or script[0].only in query):
            return await self._refuse(request, script.popleft())
        if "watch" in query:
            return await self._watch(request, query)
        if request.path == _collection(request.path):
            return self._list(request.path, query)
        return self._get(request.path)

    async def _refuse(self, request: web.BaseRequest, refusal: Refusal) -> web.StreamResponse:
        if refusal.drips:
            return await self._drip(request, refusal.status)
        return web.Response(status=refusal.status, text=refusal.text, headers=dict(refusal.headers))

    async def _watch(
        self, request: web.BaseRequest, query: Mapping[str, str]
    ) -> web.StreamResponse:
        if "sendInitialEvents" not in query:
            return await self._send(request, self._since(request.path, query["resourceVersion"]))
        if not self.can_stream:
            return web.Response(status=422, text=UNKNOWN_QUESTION)
        assert query["resourceVersionMatch"] == "NotOlderThan"
        assert query["allowWatchBookmarks"] == "true"
        return await self._send(request, self._initial(request.path))

    def _list(self, path: str, query: Mapping[str, str]) -> web.Response:
        start = int(query.get("continue", "0"))
        size = self.page or int(query["limit"])
        items = list(self._objects[path].values())
        metadata = {"resourceVersion": str(self._version)}
        if start + size < len(items):
            metadata["continue"] = str(start + size)
        return web.json_response({"metadata": metadata, "items": items[start : start + size]})

    def _get(self, path: str) -> web.Response:
        for kind in BY_NAME.values():
            for (namespace, name), found in self._objects[kind.path()].items():
                if kind.path(namespace, name) == path:
                    return web.json_response(found)
        return web.Response(status=404, text="not found")

    async def _drip(self, request: web.BaseRequest, status: int) -> web.StreamResponse:
        response = web.StreamResponse(status=status)
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(DRIP_SECONDS)

    def _since(self, path: str, version: str) -> list[bytes]:
        return [text for at, text in self._history[path] if at > int(version)]

    def _initial(self, path: str) -> list[bytes]:
        found = [line("ADDED", one) for one in self._objects[path].values()]
        if self.initial is not None:
            return found[: self.initial]
        mark = {"resourceVersion": str(self._version), "annotations": {INITIAL_END: "true"}}
        return [*found, line("BOOKMARK", {"metadata": mark})]

    async def _send(
        self, request: web.BaseRequest, pieces: Iterable[bytes | None]
    ) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        for piece in pieces:
            queue.put_nowait(piece)
        self._watches[request.path].append(queue)
        try:
            while (piece := await queue.get()) is not None:
                if piece == CUT and request.transport is not None:
                    request.transport.abort()
                    break
                await response.write(piece)
        finally:
            self._watches[request.path].remove(queue)
        return response


class LoopbackAccess:
    """The way to a FakeAPI; counts how often credentials were read again."""

    def __init__(self, base: str) -> None:
        """Remember the address."""
        self.base = base
        self.reloads = 0

    async def arguments(self) -> dict[str, Any]:
        """Return a token that changes with each reload."""
        return {"headers": {"Authorization": f"Bearer token-{self.reloads}"}}

    async def reload(self) -> None:
        """Count."""
        self.reloads += 1


def _collection(path: str) -> str:
    """Return the path of all objects of the kind that a path is about."""
    for kind in BY_NAME.values():
        if path.startswith(f"{kind.root}/") and f"/{kind.plural}" in path:
            return kind.path()
    return path


def _is_streaming(seen: Seen) -> bool:
    return "sendInitialEvents" in seen.query


def line(event: str, found: Object) -> bytes:
    """Return one line of a watch."""
    return json.dumps({"type": event, "object": found}, ensure_ascii=False).encode() + b"\n"
