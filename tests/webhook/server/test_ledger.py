"""What is written down of a decision."""

from collections.abc import Mapping

from tests.fakes.reviews import decision
from webhook.server.ledger import MAX_MESSAGE, Ledger
from webhook.server.metrics import Metrics


class Lines:
    """Keeps what is written."""

    def __init__(self) -> None:
        """Begin empty."""
        self.found: list[tuple[str, Mapping[str, object]]] = []

    def __call__(self, event: str, fields: Mapping[str, object]) -> None:
        """Keep it."""
        self.found.append((event, fields))


def test_a_refusal_has_its_reason_and_message() -> None:
    """Bounded: a message is a sentence, not a page."""
    lines = Lines()
    refused = decision(verdict="Denied", reason="NotGranted", message="x" * 9999)
    Ledger(Metrics("1"), lines).decided(refused, 0.0015)
    ((event, fields),) = lines.found
    assert event == "pod_refused"
    assert fields["reason"] == "NotGranted"
    assert len(str(fields["message"])) == MAX_MESSAGE
    assert fields["duration_ms"] == 1.5


def test_a_dry_run_says_so() -> None:
    """Who counts pods in the log can leave rehearsals out."""
    lines = Lines()
    ledger = Ledger(Metrics("1"), lines)
    ledger.decided(decision(dry_run=True), 0.001)
    ledger.decided(decision(), 0.001)
    assert [fields.get("dry_run") for _, fields in lines.found] == [True, None]


def test_without_a_reader_decisions_are_still_counted() -> None:
    """At log level warning the metrics are all there is."""
    metrics = Metrics("1")
    Ledger(metrics, None).decided(decision(), 0.001)
    labels = {"kind": "Pod", "verdict": "Patched", "reason": "", "dry_run": "false"}
    assert metrics.registry.get_sample_value("rdma_webhook_decisions_total", labels) == 1


def test_an_object_of_ours_has_a_line_of_its_own() -> None:
    """Who looks for pods does not find policies, and the other way round."""
    lines = Lines()
    ledger = Ledger(Metrics("1"), lines)
    known = {"kind": "RDMAPolicy", "name": "default", "ops": 0}
    ledger.decided(decision(verdict="Unchanged", warnings=("w",), **known), 0.001)
    ledger.decided(decision(verdict="Denied", reason="R", message="m", **known), 0.001)
    (admitted, first), (refused, second) = lines.found
    assert (admitted, refused) == ("object_admitted", "object_refused")
    assert (first["kind"], first["namespace"], first["name"]) == ("RDMAPolicy", "team", "default")
    assert first["warnings"] == ("w",)
    assert (second["reason"], second["message"]) == ("R", "m")
    assert {"pod", "ops"}.isdisjoint(first)
