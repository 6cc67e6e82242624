"""What is written down of each request: one log line a decision, and the metrics.

Knows the core's ``Decision``; decides nothing. A line never holds environment values, tokens or
pods: a Decision has no such field.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from webhook.admission.answer import POD, Decision
from webhook.server.metrics import Metrics

MAX_MESSAGE = 500
EVENTS = {"Patched": "pod_patched", "Denied": "pod_refused", "Unchanged": "pod_unchanged"}
OBJECT_EVENTS = {"Denied": "object_refused", "Unchanged": "object_admitted"}

Line: TypeAlias = Callable[[str, Mapping[str, object]], None]

log = logging.getLogger(__name__)


def log_line(event: str, fields: Mapping[str, object]) -> None:
    """Write an event with its fields by way of ``logging``."""
    log.info(event, extra={"fields": fields})


class Ledger:
    """Counts requests and writes decisions down."""

    def __init__(self, metrics: Metrics, line: Line | None = log_line) -> None:
        """Join the parts.

        Args:
            metrics: Counts.
            line: Writes one log line; None = nobody reads such lines.
        """
        self._line = line
        self._decided = metrics.decided
        self.answered = metrics.answered

    def decided(self, decision: Decision, seconds: float) -> None:
        """Write one decision down.

        Args:
            decision: The core's.
            seconds: From the request's head to the decision, waiting included.
        """
        self._decided(decision.kind, decision.verdict, decision.reason, dry_run=decision.dry_run)
        if self._line is None:
            return
        is_pod = decision.kind == POD
        fields = _of_pod(decision) if is_pod else _of_object(decision)
        fields["warnings"] = decision.warnings
        fields["duration_ms"] = round(seconds * 1000, 3)
        if decision.reason:
            fields["reason"] = decision.reason
            fields["message"] = decision.message[:MAX_MESSAGE]
        if decision.dry_run:
            fields["dry_run"] = True
        events = EVENTS if is_pod else OBJECT_EVENTS
        self._line(events.get(decision.verdict, "pod_judged"), fields)


def _of_pod(decision: Decision) -> dict[str, object]:
    return {
        "uid": decision.uid,
        "namespace": decision.namespace,
        "pod": decision.name,
        "operation": decision.operation,
        "verdict": decision.verdict,
        "networks": decision.networks,
        "policy": decision.policy,
        "ops": decision.ops,
    }


def _of_object(decision: Decision) -> dict[str, object]:
    return {
        "uid": decision.uid,
        "kind": decision.kind,
        "namespace": decision.namespace,
        "name": decision.name,
        "operation": decision.operation,
        "verdict": decision.verdict,
    }
