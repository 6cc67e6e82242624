"""Rulings on pods that were equal in all that a ruling depends on.

The pods of one job differ in name, indexes and the volume of their token, and in nothing that a
decision reads. The first is judged; the others are compared with it and get its ruling. Kept
with the snapshot, for the ruling depends on it too; few, and none of large pods (ADR 0004).
"""

import msgspec

from policies import wish
from policies.names import DEFAULT_SELECTION_ANNOTATION, SELECTION_ANNOTATION
from policies.snapshot import Snapshot
from webhook.admission.describe import mpi_role
from webhook.admission.review import AdmissionRequest
from webhook.admission.ruling import Ruling
from webhook.pods import pod as pods
from webhook.pods.pod import Pod, Spec

MOST_KEYS = 32
MOST_A_KEY = 2
"""Ranks of some jobs differ in a variable: these two are compared, the others judged."""
MOST_BYTES = 64 * 1024
FEW_BYTES = 32 * 1024
MOST_PARTS = 4096
"""Largest review that is kept, and most maps and lists in one that is not small. An ordinary pod of
17 KB takes 30 KB of memory; one that is made of empty maps takes 700 KB at the very most."""
_SELECTION_KEYS = (SELECTION_ANNOTATION, DEFAULT_SELECTION_ANNOTATION)

Key = tuple[str, str, tuple[tuple[str, str], ...]]


class Precedent(msgspec.Struct, frozen=True):
    """One pod that was judged, and what was said."""

    spec: Spec | None
    ruling: Ruling


class Place(msgspec.Struct, frozen=True):
    """Where the rulings on pods like one are kept, and its ruling where there is one."""

    precedents: dict[Key, list[Precedent]]
    key: Key
    spec: Spec | None
    ruling: Ruling | None

    def keep(self, body: bytes, ruling: Ruling) -> Ruling:
        """Keep a ruling for pods to come, and return it.

        Refusals are not kept: a job that is refused is not created thousands of times a second.

        Args:
            body: The review as received.
            ruling: What was said of its pod.
        """
        if ruling.verdict != "Denied" and _is_worth_keeping(body):
            if self.key not in self.precedents and len(self.precedents) >= MOST_KEYS:
                self.precedents.clear()
            others = self.precedents.get(self.key, ())[: MOST_A_KEY - 1]
            self.precedents[self.key] = [Precedent(self.spec, ruling), *others]
        return ruling


def _is_worth_keeping(body: bytes) -> bool:
    if len(body) <= FEW_BYTES:
        return True
    return len(body) <= MOST_BYTES and body.count(b"{") + body.count(b"[") <= MOST_PARTS


def look(request: AdmissionRequest, pod: Pod, snapshot: Snapshot) -> Place:
    """Return where rulings on such pods are kept, with that on an equal one if there is one.

    Args:
        request: The creation of a pod.
        pod: Its object; the random names of its token's volume are taken out, in place.
        snapshot: By which it is judged.
    """
    pods.forget_token_names(pod)
    key = request.namespace or "", mpi_role(pods.labels(pod)), _annotations(pod)
    spec = pod.get("spec")
    known: dict[Key, list[Precedent]] = snapshot.notes.page(__name__)
    ruling = next((one.ruling for one in known.get(key, ()) if one.spec == spec), None)
    return Place(known, key, spec, ruling)


def _annotations(pod: Pod) -> tuple[tuple[str, str], ...]:
    """Return the annotations that a ruling reads."""
    return tuple(
        [
            (key, value)
            for key, value in pods.annotations(pod).items()
            if wish.is_ours(key) or key in _SELECTION_KEYS
        ]
    )
