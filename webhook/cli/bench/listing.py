"""An API server of a large cluster: sends every kind as events, then stays silent in each watch.

Runs as a process of its own (``python -m webhook.cli.bench.listing KUBECONFIG TENANTS``) until
SIGTERM. Events are made before the first request, so that a reader waits for its own work alone.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import uvloop
from aiohttp import web

from policies import names
from webhook.apiserver.kinds import BY_NAME
from webhook.cli.bench import objects
from webhook.watch.stream import INITIAL_END, PAGE_SIZE

HOST: Final = "127.0.0.1"
VERSION: Final = "1000000"
"""Resource version at the end of every list: above that of each object."""

Streams = Mapping[str, list[bytes]]
"""Paths of kinds, each with the pieces of its streaming list."""


def streams(tenants: int) -> Streams:
    """Return the streaming lists of a cluster with some tenants, as bytes."""
    made = {
        names.NETWORK: objects.networks(),
        names.POLICY: objects.policies(tenants),
        names.PARTITION: iter(()),
        names.NAD: objects.attachments(tenants),
        names.NAMESPACE: objects.namespaces(tenants),
    }
    return {BY_NAME[kind].path(): list(_cut(found)) for kind, found in made.items()}


def _cut(found: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    """Yield an event for each object, some hundred to a piece, and the mark behind the last."""
    left = iter(found)
    number = 0
    while items := list(islice(left, PAGE_SIZE)):
        number += 1
        for one in items:
            one["metadata"]["resourceVersion"] = str(number)
        yield b"".join(_line("ADDED", one) for one in items)
    mark = {"resourceVersion": VERSION, "annotations": {INITIAL_END: "true"}}
    yield _line("BOOKMARK", {"metadata": mark})


def _line(event: str, found: Mapping[str, Any]) -> bytes:
    return json.dumps({"type": event, "object": found}, separators=(",", ":")).encode() + b"\n"


class Listing:
    """Answers watches that begin with what there is, and no others."""

    def __init__(self, tenants: int) -> None:
        """Make every event."""
        self._streams = streams(tenants)
        self._ending = asyncio.Event()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return all objects of a kind, and then nothing until the end."""
        found = self._streams.get(request.path)
        if found is None or "sendInitialEvents" not in request.rel_url.query:
            return web.Response(status=404)
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in found:
            await response.write(piece)
        await self._ending.wait()
        return response

    def end(self) -> None:
        """End the watches."""
        self._ending.set()


async def serve(kubeconfig: Path, tenants: int) -> None:
    """Listen on any port of this machine, say how to reach it, and stop at SIGTERM."""
    listing = Listing(tenants)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    runner = web.ServerRunner(web.Server(listing.answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, HOST, 0).start()
    port = runner.addresses[0][1]
    _write(kubeconfig, f"http://{HOST}:{port}")
    sys.stderr.write(f'{{"event":"listening","port":{port}}}\n{{"event":"ready"}}\n')
    sys.stderr.flush()
    await stopping.wait()
    listing.end()
    await runner.cleanup()


def _write(kubeconfig: Path, server: str) -> None:
    found = {
        "current-context": "bench",
        "contexts": [{"name": "bench", "context": {"cluster": "bench"}}],
        "clusters": [{"name": "bench", "cluster": {"server": server}}],
        "users": [],
    }
    kubeconfig.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
