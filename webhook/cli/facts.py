"""What probes and metrics ask for, answered from the cache, the certificate and the server."""

from collections.abc import Iterator, Mapping

from certs.serving import Serving
from webhook.cli.leader import Leader
from webhook.server.app import Reviews
from webhook.server.metrics import KindState, LeadState
from webhook.watch.cache import Cache


class LiveFacts:
    """The state of the running service."""

    def __init__(
        self, cache: Cache, serving: Serving, reviews: Reviews, leader: Leader | None
    ) -> None:
        """Keep whom to ask; there is no leader where objects come from files."""
        self._leader = leader
        self._cache = cache
        self._serving = serving
        self._reviews = reviews

    def missing(self) -> list[str]:
        """Return what is missing to be ready, one sentence each."""
        found = ["stopping"] if self._reviews.draining else []
        certificate = self._serving.problem()
        if certificate:
            found.append(certificate)
        return [*found, *self._cache.missing()]

    def kinds(self) -> Iterator[KindState]:
        """Yield the state of each kind."""
        for kind, state in self._cache.states().items():
            yield KindState(
                kind,
                synced=state.synced,
                staleness=self._cache.staleness(kind),
                objects=state.objects,
                events=state.tally.events,
                lists=state.tally.lists,
                failures=state.tally.failures,
            )

    def counts(self) -> dict[str, int]:
        """Return how many objects of each kind are known."""
        return {kind: state.objects for kind, state in self._cache.states().items()}

    def problems(self) -> Mapping[str, int]:
        """Return how many objects have a problem, by kind."""
        return self._cache.troubled()

    def snapshots(self) -> int:
        """Return how often the snapshot was replaced."""
        return self._cache.swaps

    def certificate_ends(self) -> float:
        """Return when the serving certificate ends, Unix time."""
        return self._serving.pair.leaf.not_valid_after_utc.timestamp()

    def lead(self) -> LeadState:
        """Return what this replica does as a leader."""
        if self._leader is None:
            return LeadState()
        statuses = self._leader.statuses
        return LeadState(
            self._leader.leads(), statuses.writes, statuses.failures, self._leader.waiting()
        )
