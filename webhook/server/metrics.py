"""Prometheus metrics: every name and label once, children looked up once.

Knows numbers and prometheus-client. What others hold (caches, certificates) is asked for when
someone scrapes, through :class:`Facts`; requests pay for counters alone.

| name (``rdma_webhook_`` in front) | labels | meaning |
|---|---|---|
| ``requests_total`` | path, code | requests answered, by HTTP status |
| ``request_duration_seconds`` | path | from the request's head to its answer, waiting included |
| ``decisions_total`` | kind, verdict, reason, dry_run | pods and objects of ours judged |
| ``requests_in_flight`` | | requests whose body is there and that are being judged |
| ``bodies_arriving`` | | requests whose body is under way |
| ``body_bytes`` | | bytes of bodies that are held |
| ``requests_shed_total`` | | requests answered 429 |
| ``pods_waiting`` | | requests in the waiting room |
| ``pods_turned_away_total`` | | requests that found the waiting room full |
| ``cache_synced`` | kind | 1 once all objects of a kind are known |
| ``cache_staleness_seconds`` | kind | since the last event, bookmark or look at the files |
| ``cache_objects`` | kind | objects known |
| ``cache_events_total`` | kind | events of watches, bookmarks too |
| ``cache_lists_total`` | kind, cause, way | full lists that were read |
| ``cache_failures_total`` | kind, reason | lists and watches that failed |
| ``snapshots_total`` | | times that another snapshot took the place of the one before |
| ``snapshot_problems`` | kind | objects, or files, that do not parse or are not accepted |
| ``certificate_not_after_seconds`` | | end of the serving certificate, Unix time |
| ``certificate_reloads_total`` | result | new pairs taken (``taken``) or refused (``refused``) |
| ``leader`` | | 1 while this replica writes status |
| ``status_writes_total`` | | statuses of our kinds written |
| ``status_failures_total`` | | statuses that could not be read or written, each try |
| ``status_waiting`` | | objects that the leader has to look at |
| ``build_info`` | version, python | 1 |
"""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

BUCKETS = (
    *(0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.5, 1.0, 2.0, 3.0),
)
"""Seconds. The API server's own buckets begin at 5 ms, where ours should end."""
MAX_REASONS = 100
"""The core's reasons are a closed list; a mistake there shall not fill Prometheus' memory."""
OTHER = "Other"
PREFIX = "rdma_webhook_"


@dataclass(frozen=True, slots=True)
class KindState:
    """How one kind of object is doing.

    Attributes:
        kind: ``RDMAPolicy``, ….
        synced: Whether all objects of it are known.
        staleness: Seconds since the last sign of life; infinite before the first.
        objects: How many are known.
        events: Events of its watches so far.
        lists: Full lists so far, by cause and way.
        failures: Failed calls so far, by reason.
    """

    kind: str
    synced: bool
    staleness: float
    objects: int
    events: int
    lists: Mapping[tuple[str, str], int]
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LeadState:
    """What this replica does as a leader.

    Attributes:
        leads: Whether it leads now.
        writes: How many statuses it wrote.
        failures: How many tries failed.
        waiting: How many objects it has to look at.
    """

    leads: bool = False
    writes: int = 0
    failures: int = 0
    waiting: int = 0


class Facts(Protocol):
    """What is asked for at scrape time."""

    def kinds(self) -> Iterable[KindState]:
        """Return the state of each kind that is read."""
        ...

    def problems(self) -> Mapping[str, int]:
        """Return how many objects have a problem, by kind; kinds without one are there too."""
        ...

    def snapshots(self) -> int:
        """Return how often the snapshot was replaced."""
        ...

    def certificate_ends(self) -> float:
        """Return when the serving certificate ends, Unix time."""
        ...

    def lead(self) -> LeadState:
        """Return what this replica does as a leader."""
        ...


class Taken(Protocol):
    """What the server has taken in; read at scrape time."""

    in_flight: int
    arriving: int
    held: int


class Load(Protocol):
    """How busy the server is; read at scrape time."""

    shed: int

    @property
    def intake(self) -> Taken:
        """Return what is being taken in."""
        ...

    def waiting(self) -> int:
        """Return how many requests wait for a newer snapshot."""
        ...

    def turned_away(self) -> int:
        """Return how many requests found no place to wait."""
        ...


class Metrics:
    """All metrics of one process, in a registry of their own."""

    def __init__(self, version: str) -> None:
        """Register everything that is counted; nothing is global."""
        self.registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests answered.", ("path", "code"))
        self._decisions = self._counter(
            "decisions",
            "Pods and objects of ours judged.",
            ("kind", "verdict", "reason", "dry_run"),
        )
        self._reloads = self._counter(
            "certificate_reloads", "New certificate pairs, taken or refused.", ("result",)
        )
        self._duration = Histogram(
            PREFIX + "request_duration_seconds",
            "From the request's head to its answer, waiting included.",
            ("path",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        Gauge(
            PREFIX + "build_info", "Always 1.", ("version", "python"), registry=self.registry
        ).labels(version, platform.python_version()).set(1)
        ProcessCollector(registry=self.registry)
        self._request_children: dict[tuple[str, int], Callable[[], None]] = {}
        self._duration_children: dict[str, Callable[[float], None]] = {}
        self._decision_children: dict[tuple[str, str, str, bool], Callable[[], None]] = {}

    def answered(self, path: str, code: int, seconds: float) -> None:
        """Count one answered request.

        Args:
            path: One of ours, or ``other``: never the client's text.
            code: HTTP status.
            seconds: How long it took.
        """
        count = self._request_children.get((path, code))
        if count is None:
            count = self._requests.labels(path, str(code)).inc
            self._request_children[path, code] = count
        observe = self._duration_children.get(path)
        if observe is None:
            observe = self._duration_children[path] = self._duration.labels(path).observe
        count()
        observe(seconds)

    def decided(self, kind: str, verdict: str, reason: str, *, dry_run: bool) -> None:
        """Count one judged pod or object."""
        count = self._decision_children.get((kind, verdict, reason, dry_run))
        if count is None:
            if len(self._decision_children) >= MAX_REASONS:
                reason = OTHER
            count = self._decisions.labels(kind, verdict, reason, str(dry_run).lower()).inc
            self._decision_children[kind, verdict, reason, dry_run] = count
        count()

    def reloaded(self, taken: bool) -> None:  # noqa: FBT001 - the only thing a reload has to say
        """Count one new certificate pair."""
        self._reloads.labels("taken" if taken else "refused").inc()

    def attach(self, facts: Facts, load: Load) -> None:
        """Ask these for their numbers at every scrape."""
        self.registry.register(_Asked(facts, load))

    def page(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, labels: tuple[str, ...]) -> Counter:
        return Counter(PREFIX + name, text, labels, registry=self.registry)


class _Asked(Collector):
    """Metrics that others hold."""

    def __init__(self, facts: Facts, load: Load) -> None:
        self._facts = facts
        self._load = load

    def collect(self) -> Iterator[Metric]:
        yield from self._of_load()
        yield from self._of_kinds()
        yield from self._of_calls()
        yield from self._of_snapshot()
        yield from _of_lead(self._facts.lead())
        yield _gauge(
            "certificate_not_after_seconds",
            "End of the serving certificate, Unix time.",
            self._facts.certificate_ends(),
        )

    def _of_load(self) -> Iterator[Metric]:
        load = self._load
        taken = load.intake
        yield _gauge(
            "requests_in_flight",
            "Requests whose body is there and that are being judged.",
            taken.in_flight,
        )
        yield _gauge("bodies_arriving", "Requests whose body is under way.", taken.arriving)
        yield _gauge("body_bytes", "Bytes of bodies that are held.", taken.held)
        yield _gauge("pods_waiting", "Requests in the waiting room.", load.waiting())
        yield CounterMetricFamily(
            PREFIX + "requests_shed", "Requests answered 429.", value=load.shed
        )
        yield CounterMetricFamily(
            PREFIX + "pods_turned_away",
            "Requests that found the waiting room full.",
            value=load.turned_away(),
        )

    def _of_kinds(self) -> Iterator[Metric]:
        synced = GaugeMetricFamily(
            PREFIX + "cache_synced", "1 once all objects are known.", labels=["kind"]
        )
        staleness = GaugeMetricFamily(
            PREFIX + "cache_staleness_seconds", "Since the last sign of life.", labels=["kind"]
        )
        objects = GaugeMetricFamily(PREFIX + "cache_objects", "Objects known.", labels=["kind"])
        for state in self._facts.kinds():
            synced.add_metric([state.kind], float(state.synced))
            staleness.add_metric([state.kind], state.staleness)
            objects.add_metric([state.kind], state.objects)
        yield from (synced, staleness, objects)

    def _of_calls(self) -> Iterator[Metric]:
        events = _counter("cache_events", "Events of watches.", "kind")
        lists = _counter("cache_lists", "Full lists read.", "kind", "cause", "way")
        failures = _counter("cache_failures", "Calls that failed.", "kind", "reason")
        for state in self._facts.kinds():
            events.add_metric([state.kind], state.events)
            for (cause, way), count in state.lists.items():
                lists.add_metric([state.kind, cause, way], count)
            for reason, count in state.failures.items():
                failures.add_metric([state.kind, reason], count)
        yield from (events, lists, failures)

    def _of_snapshot(self) -> Iterator[Metric]:
        yield CounterMetricFamily(
            PREFIX + "snapshots",
            "Times that another snapshot took the place of the one before.",
            value=self._facts.snapshots(),
        )
        problems = GaugeMetricFamily(
            PREFIX + "snapshot_problems",
            "Objects that do not parse or are not accepted.",
            labels=["kind"],
        )
        for kind, count in self._facts.problems().items():
            problems.add_metric([kind], count)
        yield problems


def _counter(name: str, text: str, *labels: str) -> CounterMetricFamily:
    return CounterMetricFamily(PREFIX + name, text, labels=labels)


def _of_lead(state: LeadState) -> Iterator[Metric]:
    yield _gauge("leader", "1 while this replica writes status.", float(state.leads))
    yield CounterMetricFamily(
        PREFIX + "status_writes", "Statuses of our kinds written.", value=state.writes
    )
    yield CounterMetricFamily(
        PREFIX + "status_failures",
        "Statuses that could not be read or written, each try.",
        value=state.failures,
    )
    yield _gauge("status_waiting", "Objects that the leader has to look at.", state.waiting)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, value=value)
