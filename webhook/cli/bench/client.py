"""Load on a server: keep-alive connections over verified TLS, in a process of its own.

``python -m webhook.cli.bench.client JSON`` takes a :class:`Load` and prints a :class:`Result`. Kept
apart from the server's process so that neither's work is counted as the other's.
"""

import asyncio
import json
import ssl
import sys
import time
from dataclasses import asdict, dataclass
from statistics import quantiles
from typing import Final

import uvloop

from webhook.cli.bench.pods import SIZES, body

PODS: Final = 64
"""Different pods sent in turn, all of one job."""
HOST: Final = "127.0.0.1"
_END: Final = b"\r\n\r\n"
_OK: Final = b"HTTP/1.1 200"
_CLOCK: Final = time.perf_counter
"""The event loop's own clock is a millisecond coarse."""


@dataclass(frozen=True, slots=True)
class Load:
    """What to send.

    Attributes:
        port: Of the server.
        bundle: File with the authority to trust.
        size: Title of the pods' size.
        connections: Kept open.
        requests: In all.
        rate: Requests a second, sent on time whatever the answers do; 0 = one after the other on
            each connection.
        wanted: Text that each answer holds.
    """

    port: int
    bundle: str
    size: str
    connections: int
    requests: int
    rate: float = 0.0
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What came back.

    Attributes:
        seconds: From the first request to the last answer.
        p50: Milliseconds from when a request was due until its answer was read.
        p99: The same of the slowest hundredth.
        failed: Answers other than 200 with what was wanted.
    """

    seconds: float
    p50: float
    p99: float
    failed: int


class _Connection:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, request: bytes, wanted: bytes) -> bool:
        self._writer.write(request)
        head = await self._reader.readuntil(_END)
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        answer = await self._reader.readexactly(length)
        return head.startswith(_OK) and wanted in answer

    def close(self) -> None:
        self._writer.close()


class _Run:
    """One load, while it runs."""

    def __init__(self, load: Load) -> None:
        size = next(one for one in SIZES if one.title == load.size)
        self._load = load
        self._requests = [_request(body(size, number)) for number in range(PODS)]
        self._wanted = load.wanted.encode()
        self._free: asyncio.Queue[_Connection] = asyncio.Queue()
        self._took: list[float] = []
        self._failed = 0

    async def run(self) -> Result:
        context = ssl.create_default_context(cafile=self._load.bundle)
        for _ in range(self._load.connections):
            opened = await asyncio.open_connection(HOST, self._load.port, ssl=context)
            self._free.put_nowait(_Connection(*opened))
        started = _CLOCK()
        await (self._on_time() if self._load.rate else self._one_by_one())
        seconds = _CLOCK() - started
        while not self._free.empty():
            self._free.get_nowait().close()
        cuts = quantiles(self._took, n=100)
        return Result(seconds, cuts[49] * 1000, cuts[98] * 1000, self._failed)

    async def _one_by_one(self) -> None:
        async def lane(first: int) -> None:
            for number in range(first, self._load.requests, self._load.connections):
                await self._send(number, _CLOCK())

        await asyncio.gather(*(lane(first) for first in range(self._load.connections)))

    async def _on_time(self) -> None:
        """Send each request when it is due; who finds no free connection waits, and it counts."""
        started = _CLOCK()
        sent: list[asyncio.Task[None]] = []
        while len(sent) < self._load.requests:
            due = min(int((_CLOCK() - started) * self._load.rate) + 1, self._load.requests)
            # Timers are a millisecond coarse: a request counts from when its timer fired.
            sent += [
                asyncio.create_task(self._send(number, _CLOCK()))
                for number in range(len(sent), due)
            ]
            await asyncio.sleep(max(0.0, started + len(sent) / self._load.rate - _CLOCK()))
        await asyncio.gather(*sent)

    async def _send(self, number: int, due: float) -> None:
        connection = await self._free.get()
        is_good = await connection.ask(self._requests[number % PODS], self._wanted)
        self._took.append(_CLOCK() - due)
        self._failed += not is_good
        self._free.put_nowait(connection)


def _request(content: bytes) -> bytes:
    head = (
        "POST /mutate?timeout=3s HTTP/1.1\r\nHost: rdma-webhook\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def main(text: str) -> None:
    """Run the load that a JSON text describes and print its result."""
    load = Load(**json.loads(text))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        result = runner.run(_Run(load).run())
    sys.stdout.write(json.dumps(asdict(result)))


if __name__ == "__main__":
    main(sys.argv[1])
