"""Select and resolve, worked out once for all pods of the same facts.

The pods of one job differ in name alone, so the decision about the first is that about all. It
depends on the facts and the snapshot only, and is forgotten with the snapshot.
"""

from policies.intent import Intent
from policies.refusal import Pending, Refusal
from policies.resolve import resolve
from policies.select import Applicable, NotApplicable, select
from policies.snapshot import Snapshot
from policies.subject import Subject

MOST = 2048
"""Decisions kept at most: some 4 MB, far above the number of distinct jobs started at once."""

Decided = tuple[Applicable, Intent] | NotApplicable | Pending | Refusal


def decided(subject: Subject, snapshot: Snapshot) -> Decided:
    """Return what one pod shall receive with the policy behind it, or why nothing."""
    found: Decided | None = snapshot.decisions.get(subject)
    if found is None:
        found = _worked_out(subject, snapshot)
        if len(snapshot.decisions) >= MOST:
            snapshot.decisions.clear()
        snapshot.decisions[subject] = found
    return found


def _worked_out(subject: Subject, snapshot: Snapshot) -> Decided:
    applicable = select(subject, snapshot)
    if not isinstance(applicable, Applicable):
        return applicable
    intent = resolve(applicable, snapshot)
    return intent if isinstance(intent, Refusal) else (applicable, intent)
