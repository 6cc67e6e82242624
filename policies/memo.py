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

_MOST_PARTS = 64
_MOST_TEXT = 1024
MOST = 2048
"""Decisions kept at most: some 4 MB, far above the number of distinct jobs started at once."""

Decided = tuple[Applicable, Intent] | NotApplicable | Pending | Refusal


def decided(subject: Subject, snapshot: Snapshot) -> Decided:
    """Return what one pod shall receive with the policy behind it, or why nothing."""
    found: Decided | None = snapshot.decisions.get(subject)
    if found is None:
        found = _worked_out(subject, snapshot)
        if not _is_small(subject):
            return found
        if len(snapshot.decisions) >= MOST:
            snapshot.decisions.clear()
        snapshot.decisions[subject] = found
    return found


def _is_small(subject: Subject) -> bool:
    """Whether a pod's facts are of the usual size, so that keeping them costs little."""
    parts = len(subject.selections) + len(subject.containers) + len(subject.node_selector)
    return parts <= _MOST_PARTS and sum(len(text) for _, text in subject.annotations) <= _MOST_TEXT


def _worked_out(subject: Subject, snapshot: Snapshot) -> Decided:
    applicable = select(subject, snapshot)
    if not isinstance(applicable, Applicable):
        return applicable
    intent = resolve(applicable, snapshot)
    return intent if isinstance(intent, Refusal) else (applicable, intent)
