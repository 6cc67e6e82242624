"""Names and bounds of what is counted."""

from collections.abc import Iterable, Mapping

from webhook.server import metrics as module
from webhook.server.metrics import MAX_REASONS, KindState, LeadState, Metrics


class Busy:
    """A server under some load, with a cache."""

    in_flight = 3
    arriving = 6
    held = 7000
    shed = 5

    @property
    def intake(self) -> "Busy":
        """Return itself."""
        return self

    def waiting(self) -> int:
        """Return a number."""
        return 2

    def turned_away(self) -> int:
        """Return a number."""
        return 1

    def kinds(self) -> Iterable[KindState]:
        """Return one kind that is known and one that is not."""
        yield KindState(
            "RDMAPolicy",
            synced=True,
            staleness=1.5,
            objects=10,
            events=12,
            lists={("start", "stream"): 1, ("expired", "pages"): 2},
            failures={"busy": 3},
        )
        yield KindState(
            "Namespace",
            synced=False,
            staleness=float("inf"),
            objects=0,
            events=0,
            lists={},
            failures={},
        )

    def problems(self) -> Mapping[str, int]:
        """Return one kind with problems and one without."""
        return {"RDMAPolicy": 4, "Namespace": 0}

    def snapshots(self) -> int:
        """Return a number."""
        return 9

    def certificate_ends(self) -> float:
        """Return a moment."""
        return 1.8e9

    def lead(self) -> LeadState:
        """Return a leader at work."""
        return LeadState(leads=True, writes=8, failures=2, waiting=9)


def test_the_page_has_every_documented_metric() -> None:
    """The table in the module's docstring and the page agree."""
    metrics = Metrics("1.2.3")
    metrics.attach(Busy(), Busy())
    metrics.answered("/mutate", 200, 0.001)
    metrics.decided("Pod", "Patched", "", dry_run=False)
    metrics.reloaded(taken=True)
    page = metrics.page().decode()
    documented = [
        row.split("`")[1] for row in str(module.__doc__).splitlines() if row.startswith("| `")
    ]
    assert len(documented) == 24
    for name in documented:
        assert f"# HELP rdma_webhook_{name.removesuffix('_total')}" in page, name
    assert 'rdma_webhook_cache_staleness_seconds{kind="Namespace"} +Inf' in page
    assert "rdma_webhook_pods_waiting 2.0" in page
    assert 'rdma_webhook_snapshot_problems{kind="RDMAPolicy"} 4.0' in page
    assert 'rdma_webhook_snapshot_problems{kind="Namespace"} 0.0' in page
    assert "rdma_webhook_snapshots_total 9.0" in page
    assert 'rdma_webhook_cache_events_total{kind="RDMAPolicy"} 12.0' in page
    lists = 'rdma_webhook_cache_lists_total{cause="expired",kind="RDMAPolicy",way="pages"} 2.0'
    assert lists in page
    assert 'rdma_webhook_cache_failures_total{kind="RDMAPolicy",reason="busy"} 3.0' in page
    assert "rdma_webhook_body_bytes 7000.0" in page
    assert "rdma_webhook_leader 1.0" in page
    assert "rdma_webhook_status_writes_total 8.0" in page
    assert "rdma_webhook_status_failures_total 2.0" in page
    assert "rdma_webhook_status_waiting 9.0" in page
    assert 'rdma_webhook_certificate_reloads_total{result="taken"} 1.0' in page


def test_reasons_are_bounded() -> None:
    """Even if the core invented reasons, the number of series has an end."""
    metrics = Metrics("1.2.3")
    for number in range(MAX_REASONS * 3):
        metrics.decided("Pod", "Denied", f"Reason{number}", dry_run=False)
    series = [
        line
        for line in metrics.page().decode().splitlines()
        if line.startswith("rdma_webhook_decisions_total")
    ]
    assert len(series) <= MAX_REASONS + 1
    assert any('reason="Other"' in line for line in series)


def test_two_processes_worth_of_metrics_do_not_meet() -> None:
    """Nothing is registered globally, so tests and tools can have several."""
    Metrics("a").answered("/mutate", 200, 0.1)
    assert b"/mutate" not in Metrics("b").page()
