"""Everything that is measured, in order, with the targets of the design's budgets."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from webhook.cli.bench import objects
from webhook.cli.bench.client import Load, Result
from webhook.cli.bench.figures import Figure
from webhook.cli.bench.pods import USUAL
from webhook.cli.bench.processes import Server, load, measured, serving

ENGINE_MICROS: Final = 60.0
CHECKED_MICROS: Final = 120.0
ECHO_RATIO: Final = 3.0
P99_MILLIS: Final = 5.0
FLAT_RATIO: Final = 1.1
"""Cost with 10,000 policies beside that with 10: flat, but for noise."""
MEGABYTES: Final = 120.0
EVENT_RATIO: Final = 1.5
"""Cost of one event with 10,000 policies beside that with 10: that of its shard, and noise."""
READY_SECONDS: Final = 2.0
COLD_SECONDS: Final = 5.0
"""Processor time to start on a large cluster; how long that takes depends on who else is busy."""
RATE: Final = 1000.0
OPEN_CONNECTIONS: Final = 25
CLOSED_CONNECTIONS: Final = 8
WARM_UP: Final = 300
PATCHED: Final = '"patchType":"JSONPatch"'
TENANTS: Final = 10
_PRODUCT: Final = (
    *("webhook", "serve", "--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0"),
    *("--ca-file", "{bundle}", "--drain-seconds", "0"),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done for each figure.

    Attributes:
        rounds: Means taken of each call.
        requests: In one closed loop.
        loops: Closed loops on each server, taken in turn.
        open_seconds: Of one open loop.
        open_loops: How many; the median counts.
        tenants: Of the large cluster.
    """

    rounds: int
    requests: int
    loops: int
    open_seconds: float
    open_loops: int
    tenants: int = 10_000


FULL: Final = Effort(rounds=60, requests=3000, loops=5, open_seconds=3, open_loops=5)
QUICK: Final = Effort(rounds=15, requests=1500, loops=3, open_seconds=2, open_loops=3)


def all_of(effort: Effort) -> Iterator[Figure]:
    """Yield every figure as soon as it is known."""
    yield from _engine(effort)
    yield from _scale(effort)
    with tempfile.TemporaryDirectory(prefix="rdma-bench-") as folder:
        yield from _cold(effort, Path(folder))
        yield from _servers(effort, Path(folder))


def _engine(effort: Effort) -> Iterator[Figure]:
    found = measured("webhook.cli.bench.engine", str(effort.rounds))
    for title, one in found["sizes"].items():
        is_usual = title == USUAL.title
        yield Figure(
            f"engine, {title}, next pod of a job",
            one["engine"],
            "us",
            ENGINE_MICROS if is_usual else None,
        )
        yield Figure(
            f"engine, {title}, judged anew, with self-check of the patch",
            one["judged"],
            "us",
            CHECKED_MICROS if is_usual else None,
            note=f"self-check {one['check']:.0f} us",
        )
        yield Figure(
            f"engine / json.loads of the same {one['bytes']:,} bytes",
            one["engine"] / one["loads"],
            note=f"json.loads {one['loads']:.0f} us",
        )
    yield Figure("engine, first pod of a job", found["first"], "us", note=USUAL.title)
    yield Figure("engine, pod without annotation", found["idle"], "us", note=USUAL.title)


def _scale(effort: Effort) -> Iterator[Figure]:
    tenants = effort.tenants
    found = measured("webhook.cli.bench.scale", str(tenants), str(effort.rounds))
    few, many = found["few"], found["many"]
    yield Figure(
        f"engine, {tenants:,} policies / 10 policies",
        many / few,
        target=FLAT_RATIO,
        note=f"{many:.0f} us and {few:.0f} us",
    )
    nads = tenants * objects.NADS_PER_TENANT
    yield Figure(
        f"memory, {tenants:,} policies and {nads:,} NADs",
        found["memory"],
        "MB",
        MEGABYTES,
        note="resident"
        + (f"; the program alone {found['program']:.0f}" if found["program"] else ""),
    )
    yield Figure("snapshot of all these objects", found["build"], "s")
    for kind, title in (("nad", "NAD"), ("policy", "policy")):
        few, many = found["events"][kind]
        yield Figure(
            f"event of a {title} with its swap, {tenants:,} / 10 policies",
            many / few,
            target=EVENT_RATIO,
            note=f"{many:.0f} us and {few:.0f} us",
        )


def _cold(effort: Effort, folder: Path) -> Iterator[Figure]:
    """Yield what a start on a cluster costs, whose API server is another process."""
    for tenants in (TENANTS, effort.tenants):
        name = f"cluster-{tenants}"
        listing = ["webhook.cli.bench.listing", "{bundle}", str(tenants)]
        product = [*_PRODUCT, "--kubeconfig", str(folder / f"{name}.pem")]
        with (
            serving(listing, folder, name, processor=1),
            serving(product, folder, f"cold-{tenants}") as ours,
        ):
            used, spent = ours.megabytes(), ours.cpu_seconds()
        of = f"{tenants:,} policies, {tenants * objects.NADS_PER_TENANT:,} NADs"
        is_large = tenants == effort.tenants
        yield Figure(f"cold sync, {of}", ours.synced, "s", note=f"start to ready {ours.ready:.2f}")
        most = COLD_SECONDS if is_large else None
        yield Figure("processor time from start to ready", spent, "s", most, note="the same")
        most = MEGABYTES if is_large else None
        yield Figure("memory once synced", used, "MB", most, note="the same")


def _servers(effort: Effort, folder: Path) -> Iterator[Figure]:
    _write(folder / "objects", TENANTS)
    product = [*_PRODUCT, "--from", str(folder / "objects")]
    with ExitStack() as stack:
        ours = stack.enter_context(serving(product, folder, "serve"))
        echo = stack.enter_context(serving(["webhook.cli.bench.echo", "{bundle}"], folder, "echo"))
        yield Figure("from start to ready, files of 10 namespaces", ours.ready, "s", READY_SECONDS)
        yield from _beside_echo(effort, ours, echo)
        yield from _open_loop(effort, ours, echo)


def _beside_echo(effort: Effort, ours: Server, echo: Server) -> Iterator[Figure]:
    """Yield the processor time of a request; the servers in turn, the cheapest loop of each."""
    for server, wanted in ((ours, PATCHED), (echo, "")):
        _closed(server, WARM_UP, wanted)
    costs: dict[str, list[float | None]] = {"ours": [], "echo": []}
    for _ in range(effort.loops):
        costs["ours"].append(_cost(ours, effort.requests, PATCHED))
        costs["echo"].append(_cost(echo, effort.requests, ""))
    product, yardstick = _least(costs["ours"]), _least(costs["echo"])
    yield Figure(f"server over TLS, processor time of a {USUAL.title} review", product, "us")
    yield Figure("echo handler of the same server", yardstick, "us")
    ratio = product / yardstick if product is not None and yardstick else None
    yield Figure("server / echo", ratio, target=ECHO_RATIO)


def _open_loop(effort: Effort, ours: Server, echo: Server) -> Iterator[Figure]:
    """Yield latencies at a fixed rate, of the quietest loop: the others show who else was busy."""
    requests = int(RATE * effort.open_seconds)
    found: list[Result] = []
    beside: list[Result] = []
    for _ in range(effort.open_loops):
        found.append(load(_load(ours, OPEN_CONNECTIONS, requests, PATCHED, RATE)))
        beside.append(load(_load(echo, OPEN_CONNECTIONS, requests, "", RATE)))
    best, yardstick = (min(several, key=lambda one: one.p99) for several in (found, beside))
    loops = ", ".join(f"{one.p99:.1f}" for one in found)
    yield Figure(f"latency at {RATE:.0f}/s, p50", best.p50, "ms", note=f"echo {yardstick.p50:.2f}")
    note = f"quietest of {loops}; echo {yardstick.p99:.1f}"
    yield Figure(f"latency at {RATE:.0f}/s, p99", best.p99, "ms", P99_MILLIS, note)


def _cost(server: Server, requests: int, wanted: str) -> float | None:
    """Return the processor time of one request, microseconds."""
    before = server.cpu_seconds()
    _closed(server, requests, wanted)
    after = server.cpu_seconds()
    return None if before is None or after is None else (after - before) / requests * 1e6


def _closed(server: Server, requests: int, wanted: str) -> Result:
    return load(_load(server, CLOSED_CONNECTIONS, requests, wanted))


def _load(server: Server, connections: int, requests: int, wanted: str, rate: float = 0.0) -> Load:
    return Load(server.port, str(server.bundle), USUAL.title, connections, requests, rate, wanted)


def _least(values: list[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _write(folder: Path, tenants: int) -> None:
    """Write a cluster's objects as files for ``serve --from``."""
    folder.mkdir()
    made: dict[str, Iterator[dict[str, Any]]] = {
        "networks": objects.networks(),
        "namespaces": objects.namespaces(tenants),
        "policies": objects.policies(tenants),
        "attachments": objects.attachments(tenants),
    }
    for name, several in made.items():
        listed = {"apiVersion": "v1", "kind": "List", "items": list(several)}
        (folder / f"{name}.json").write_text(json.dumps(listed), encoding="utf-8")
