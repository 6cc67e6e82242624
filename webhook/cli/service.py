"""The running service: every room joined, started, and stopped in order.

The composition root. It decides nothing about pods; it hands functions of one room to another.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import uvloop

from certs.errors import CertificateError
from certs.files import PairFiles, write_bundle
from certs.generated import GeneratedPair, names_for
from certs.serving import Serving, Source
from policies.names import VERSION
from policies.snapshot import Snapshot
from webhook import logs
from webhook.admission.handle import handle
from webhook.admission.validate import validate
from webhook.apiserver.connection import Connection, connect
from webhook.apiserver.errors import ApiError
from webhook.apiserver.kinds import KINDS
from webhook.apiserver.pace import Pace
from webhook.cli import garbage
from webhook.cli import leader as leading
from webhook.cli.facts import LiveFacts
from webhook.cli.leader import Leader
from webhook.server import app
from webhook.server.intake import Limits
from webhook.server.ledger import Ledger
from webhook.server.listener import Listener
from webhook.server.metrics import Metrics
from webhook.server.objects import Objects
from webhook.server.probes import Probes
from webhook.settings import Address, Settings
from webhook.watch.cache import Cache
from webhook.watch.cluster import Cluster
from webhook.watch.files import FileSource

CANNOT_CODE = 1
FAILED_CODE = 70
LAST_SECONDS = 3.0
"""What a request may still take once nobody new is let in: the API server's own timeout."""
READY_LOOK_SECONDS = 0.1

log = logging.getLogger(__name__)


class CannotServe(Exception):
    """There is something outside of us that must be put right first; one sentence."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Where objects come from.

    Attributes:
        objects: What the server may ask.
        run: Keeps the cache up to date, for ever.
        close: Lets go of the cluster.
        leader: What this replica does when it leads; None where nobody is to be led.
    """

    objects: Objects
    run: Callable[[], Coroutine[Any, Any, None]]
    close: Callable[[], Coroutine[Any, Any, None]]
    leader: Leader | None = None


def run_service(settings: Settings) -> int:
    """Serve until a signal comes; return the exit code."""
    logs.configure(settings.log_level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            return runner.run(_run(settings))
        except (CannotServe, CertificateError, ApiError) as err:
            sys.stderr.write(f"rdma-webhook serve: {err}\n")
            return CANNOT_CODE


async def _run(settings: Settings) -> int:
    """Start every part, wait for a signal, stop every part."""
    stopping, hurried = _signals()
    pace = Pace()
    metrics = Metrics(VERSION)
    serving = Serving(_pair_source(settings), _now, metrics.reloaded)
    cache = Cache(
        Snapshot.empty(settings.rules),
        [kind.name for kind in KINDS],
        settings.max_staleness,
        pace.clock,
    )
    async with contextlib.AsyncExitStack() as opened:
        feed = await _feed(settings, cache, pace)
        opened.push_async_callback(feed.close)
        ledger = Ledger(metrics, logs.line_writer(settings.log_level))
        cores = {app.MUTATE: handle, app.VALIDATE: validate}
        limits = Limits(in_flight=settings.max_in_flight)
        reviews = app.Reviews(cores, feed.objects, ledger, limits)
        facts = LiveFacts(cache, serving, reviews, feed.leader)
        metrics.attach(facts, reviews)
        probe = await _listen(Probes(facts.missing, metrics), settings.probe_listen)
        opened.push_async_callback(probe.close, 0.0)
        server = await _listen(reviews, settings.listen, serving)
        _say_listening(settings, server, probe)
        parts = [asyncio.create_task(part) for part in (feed.run(), serving.run(pace.sleep))]
        beside = [asyncio.create_task(_settle(facts))]
        if feed.leader is not None:
            beside.append(asyncio.create_task(feed.leader.run()))
        code = await _until_stopped(parts, stopping)
        reviews.draining = True
        ending = asyncio.create_task(_cancel(beside))
        await _drain(server, settings.drain.total_seconds() if code == 0 else 0.0, hurried)
        await ending
    log.info("stopped", extra={"fields": {"code": code}})
    return code


async def _until_stopped(parts: list[asyncio.Task[None]], stopping: asyncio.Event) -> int:
    """Wait for a signal, or for a part that fails; the parts run on while we drain."""
    signalled = asyncio.create_task(stopping.wait())
    await asyncio.wait([*parts, signalled], return_when=asyncio.FIRST_COMPLETED)
    for part in parts:
        if part.done() and part.exception() is not None:
            log.error("part_failed", exc_info=part.exception())
            return FAILED_CODE
    return 0


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    """End what goes on beside serving; the lead is handed over while we drain."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def _drain(server: Listener, seconds: float, hurried: asyncio.Event) -> None:
    """Answer for so long, or until a second signal, then close."""
    log.info("draining", extra={"fields": {"seconds": seconds}})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await hurried.wait()
    await server.close(0.0 if hurried.is_set() else LAST_SECONDS)


async def _settle(facts: LiveFacts) -> None:
    """Once everything is read, say so and take it out of the garbage collector's sight."""
    garbage.collect_rarely()
    while facts.missing():  # noqa: ASYNC110 - what is missing also depends on the clock
        await asyncio.sleep(READY_LOOK_SECONDS)
    garbage.settle()
    log.info("ready", extra={"fields": {"objects": facts.counts()}})


async def _feed(settings: Settings, cache: Cache, pace: Pace) -> Feed:
    """Return the source of objects; of files, read once already, so that nothing waits."""
    if settings.folder is not None:
        source = FileSource(settings.folder, cache, pace)
        await source.read()
        return Feed(Objects(cache.current), source.run, _nothing)
    connection: Connection = await connect(settings.kubeconfig, pace.clock)
    cluster = Cluster(connection, cache, pace)
    objects = Objects(cache.current, cache.changed, cluster.fetch)
    leader = leading.join(connection, cache, settings, pace)
    return Feed(objects, cluster.run, connection.close, leader)


def _pair_source(settings: Settings) -> Source:
    """Return where the serving certificate comes from; publish the authority of a generated one."""
    if settings.tls_cert_file is not None and settings.tls_private_key_file is not None:
        return PairFiles(settings.tls_cert_file, settings.tls_private_key_file)
    generated = GeneratedPair(names_for(settings.service_name, settings.namespace), _now)
    if settings.ca_file is not None:
        write_bundle(settings.ca_file, generated.bundle)
    return generated


async def _listen(
    handler: app.Reviews | Probes, address: Address, serving: Serving | None = None
) -> Listener:
    context = None if serving is None else serving.context
    try:
        return await Listener.open(handler, address.host, address.port, context)
    except OSError as err:
        reason = os.strerror(err.errno) if err.errno else err
        raise CannotServe(f"{address}: cannot listen: {reason}") from err


def _say_listening(settings: Settings, server: Listener, probe: Listener) -> None:
    fields = {
        "address": settings.listen.host,
        "port": server.port,
        "probe_port": probe.port,
        "version": VERSION,
    }
    log.info("listening", extra={"fields": fields})


def _signals() -> tuple[asyncio.Event, asyncio.Event]:
    """Return what the first and the second SIGTERM or SIGINT set."""
    first, second = asyncio.Event(), asyncio.Event()

    def caught() -> None:
        (second if first.is_set() else first).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, caught)
    return first, second


async def _nothing() -> None:
    """Close nothing."""


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)
