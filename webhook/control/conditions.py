"""A standing as the status of an object, and what two statuses have to differ in to be written.

Knows ``meta/v1`` Condition; asks nobody.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from policies.standing.finding import Standing

Status = Mapping[str, Any]
_SAID = ("type", "status", "reason", "message", "observedGeneration")
_encode = msgspec.json.Encoder(order="deterministic").encode


def status(standing: Standing, generation: int, old: Status, now: str) -> dict[str, Any]:
    """Return the status to write.

    Args:
        standing: What it shall say.
        generation: ``metadata.generation`` of the object that was looked at.
        old: The status that the object has; a condition keeps its time while its status stays.
        now: Current time, as Kubernetes writes it.
    """
    known = {one["type"]: one for one in _conditions(old)}
    conditions = []
    for finding in standing.findings:
        before = known.get(finding.type, {})
        since = before.get("lastTransitionTime")
        is_same = before.get("status") == finding.status and isinstance(since, str) and since
        conditions.append(
            {
                "type": finding.type,
                "status": finding.status,
                "observedGeneration": generation,
                "lastTransitionTime": since if is_same else now,
                "reason": finding.reason,
                "message": finding.message,
            }
        )
    return {**standing.fields, "conditions": conditions}


def digest(found: Status) -> int:
    """Return a number that differs where two statuses say different things.

    When a condition came about says nothing new, nor does the order of conditions.
    """
    said = sorted(
        ([one.get(key) for key in _SAID] for one in _conditions(found)), key=lambda one: str(one[0])
    )
    rest = {key: value for key, value in found.items() if key != "conditions"}
    return hash(_encode((said, rest)))


def _conditions(found: Status) -> list[dict[str, Any]]:
    """Return the conditions of a status, which may be of any shape."""
    conditions = found.get("conditions")
    return [
        one
        for one in (conditions if isinstance(conditions, list) else ())
        if isinstance(one, dict) and isinstance(one.get("type"), str)
    ]


def find(found: Status, kind: str) -> Mapping[str, Any]:
    """Return a condition of a status; empty where it has none of that type."""
    return next((one for one in _conditions(found) if one["type"] == kind), {})
