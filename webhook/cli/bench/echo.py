"""The yardstick: a handler that reads a body and answers ``{}``, on the product's own server.

Runs as a process of its own (``python -m webhook.cli.bench.echo CA-FILE``) until SIGTERM.
"""

import asyncio
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import uvloop
from aiohttp import web

from certs.files import write_bundle
from certs.generated import GeneratedPair, names_for
from certs.serving import Serving
from webhook.server import replies
from webhook.server.body import read_body
from webhook.server.listener import Listener


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """Read the body and answer nothing."""
    await read_body(request)
    return replies.review(b"{}")


async def serve(bundle: Path) -> None:
    """Listen on any port of this machine, say which, and stop at SIGTERM."""
    pair = GeneratedPair(names_for("echo", "bench"), _now)
    write_bundle(bundle, pair.bundle)
    serving = Serving(pair, _now, lambda _: None)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    listener = await Listener.open(answer, "127.0.0.1", 0, serving.context)
    sys.stderr.write(f'{{"event":"listening","port":{listener.port}}}\n{{"event":"ready"}}\n')
    sys.stderr.flush()
    await stopping.wait()
    await listener.close(0.0)


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(Path(sys.argv[1])))
