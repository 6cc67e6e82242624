"""Select and resolve, worked out once for all pods of the same facts.

The pods of one job differ in name alone, so the decision about the first is that about all. It
depends on the facts and the snapshot only, and is forgotten with the snapshot.
"""

import msgspec

from policies.intent import Intent
from policies.refusal import Pending, Refusal
from policies.resolve import resolve
from policies.select import Applicable, NotApplicable, select
from policies.snapshot import Snapshot
from policies.subject import Subject

_MOST_BYTES = 4096
"""Of the facts about one pod; those of eight containers and rails take a third of this."""
MOST = 2048
"""Decisions kept at most: some 4 MB, far above the number of distinct jobs started at once."""

Decided = tuple[Applicable, Intent] | NotApplicable | Pending | Refusal


def decided(subject: Subject, snapshot: Snapshot) -> Decided:
    """Return what one pod shall receive with the policy behind it, or why nothing."""
    page = snapshot.notes.page(__name__)
    found: Decided | None = page.get(subject)
    if found is None:
        found = _worked_out(subject, snapshot)
        if not _is_small(subject):
            return found
        if len(page) >= MOST:
            page.clear()
        page[subject] = found
    return found


def _is_small(subject: Subject) -> bool:
    """Whether a pod's facts are of the usual size, so that keeping them costs little."""
    return len(msgspec.msgpack.encode(subject)) <= _MOST_BYTES


def _worked_out(subject: Subject, snapshot: Snapshot) -> Decided:
    applicable = select(subject, snapshot)
    if not isinstance(applicable, Applicable):
        return applicable
    intent = resolve(applicable, snapshot)
    return intent if isinstance(intent, Refusal) else (applicable, intent)
