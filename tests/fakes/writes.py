"""A small API server that keeps what is written to it, with uids, versions and scripted trouble."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from webhook.apiserver.kinds import BY_NAME

Object = dict[str, Any]
CUT = 0
"""A status that ends the connection in the middle of an answer."""


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    Attributes:
        status: HTTP status, or CUT.
        text: Body.
        headers: More headers.
    """

    status: int
    text: str = '{"message": "scripted"}'
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Deed:
    """One request as it came: body is what its JSON says, None without one."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


class WritableAPI:
    """Objects by path; plain HTTP on loopback.

    Attributes:
        base: Its address.
        objects: What it holds, by URL path.
        lists: Objects of collections that are only listed (nodes, pods), by URL path; a namespace
            that is not in it has no pods.
        deeds: Every request, oldest first.
        written: How often the status of each object was written, by URL path.
        told: Called with each of our objects whose status was written.
        before: Called with the path before each answer: what happens in the meantime.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.base = ""
        self.objects: dict[str, Object] = {}
        self.lists: dict[str, list[Object]] = defaultdict(list)
        self.deeds: list[Deed] = []
        self.written: Counter[str] = Counter()
        self.told: Callable[[Object], None] = lambda _: None
        self.before: Callable[[str, str], None] = lambda _method, _path: None
        self._script: dict[tuple[str, str], deque[Answer]] = defaultdict(deque)
        self._version = 100
        self._runner: web.ServerRunner | None = None

    async def __aenter__(self) -> Self:
        """Listen."""
        self._runner = web.ServerRunner(web.Server(self._handle), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._runner is not None:
            await self._runner.cleanup()

    def put(self, found: Object) -> Object:
        """Hold an object of ours: a new generation where its spec is another one."""
        path = path_of(found)
        old = self.objects.get(path)
        generation, uid, said = 1, f"uid-{self._next()}", found.get("status")
        if old is not None:
            is_same = old.get("spec") == found.get("spec")
            generation, uid = old["metadata"]["generation"] + (not is_same), old["metadata"]["uid"]
            said = old.get("status")
        metadata = {**found["metadata"], "generation": generation, "uid": uid}
        self.objects[path] = {**found, "metadata": {**metadata, "resourceVersion": self._next()}}
        if said is not None:
            self.objects[path]["status"] = said
        return self.objects[path]

    def refuse(self, method: str, path: str, *answers: Answer) -> None:
        """Answer the next such requests like this."""
        self._script[method, path].extend(answers)

    def done(self, method: str, path: str = "") -> list[Deed]:
        """Return the requests of a method, oldest first, for one path if given."""
        return [one for one in self.deeds if one.method == method and path in {"", one.path}]

    def _next(self) -> str:
        self._version += 1
        return str(self._version)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        text = await request.text()
        query, headers = dict(request.rel_url.query), dict(request.headers)
        body = json.loads(text) if text else None
        self.before(request.method, request.path)
        self.deeds.append(Deed(request.method, request.path, query, body, headers))
        script = self._script[request.method, request.path]
        if script:
            return await self._scripted(request, script.popleft())
        return self._answer(request.method, request.path, query, body)

    async def _scripted(self, request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        if answer.status != CUT:
            return web.Response(
                status=answer.status, text=answer.text, headers=dict(answer.headers)
            )
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.close()
        return response

    def _answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any,  # noqa: ANN401 - JSON
    ) -> web.Response:
        held = path.removesuffix("/status")
        if method == "GET" and (path in self.lists or path.endswith("/pods")):
            return self._list(path, query)
        if method == "POST":
            return self._create(path, body)
        if held not in self.objects:
            return _status(404, "not found")
        if method == "GET":
            return web.json_response(self.objects[path])
        return self._replace(path, body) if method == "PUT" else self._status(held, body)

    def _list(self, path: str, query: Mapping[str, str]) -> web.Response:
        start, size = int(query.get("continue", "0")), int(query["limit"])
        items = self.lists[path]
        more = {"continue": str(start + size)} if start + size < len(items) else {}
        metadata = {"resourceVersion": str(self._version), **more}
        return web.json_response({"metadata": metadata, "items": items[start : start + size]})

    def _create(self, folder: str, body: Object) -> web.Response:
        path = f"{folder}/{body['metadata']['name']}"
        if path in self.objects:
            return _status(409, "already exists")
        return self._keep(path, body, 201)

    def _replace(self, path: str, body: Object) -> web.Response:
        if body["metadata"].get("resourceVersion") != self._version_of(path):
            return _status(409, "the object has been modified")
        return self._keep(path, body, 200)

    def _status(self, path: str, body: Object) -> web.Response:
        found = self.objects[path]
        if body["metadata"].get("uid", found["metadata"]["uid"]) != found["metadata"]["uid"]:
            return _status(409, "Precondition failed: UID")
        metadata = {**found["metadata"], "resourceVersion": self._next()}
        self.objects[path] = {**found, "metadata": metadata, "status": body["status"]}
        self.written[path] += 1
        self.told(self.objects[path])
        return web.json_response(self.objects[path])

    def _keep(self, path: str, body: Object, status: int) -> web.Response:
        metadata = {**body["metadata"], "resourceVersion": self._next()}
        self.objects[path] = {**body, "metadata": metadata}
        return web.json_response(self.objects[path], status=status)

    def _version_of(self, path: str) -> str:
        return str(self.objects[path]["metadata"]["resourceVersion"])


def path_of(found: Object) -> str:
    """Return the URL path of an object of ours."""
    metadata = found["metadata"]
    return BY_NAME[found["kind"]].path(metadata.get("namespace", ""), metadata["name"])


def _status(status: int, message: str) -> web.Response:
    return web.json_response({"kind": "Status", "message": message}, status=status)
