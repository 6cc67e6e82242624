"""Rulings on pods that were equal in all that a ruling depends on.

The pods of one job differ in name, indexes and the volume of their token, and in nothing that a
decision reads. The first is judged; the others are compared with it and get its ruling. Kept
with the snapshot, for the ruling depends on it too; few, and none of large pods (ADR 0004).
"""

import msgspec

from policies import wish
from policies.names import DEFAULT_SELECTION_ANNOTATION, SELECTION_ANNOTATION
from policies.snapshot import Snapshot
from webhook.admission import scope
from webhook.admission.describe import mpi_role
from webhook.admission.review import AdmissionRequest
from webhook.admission.ruling import Ruling
from webhook.pods import pod as pods
from webhook.pods.pod import Pod, Spec

MOST_KEYS = 128
MOST_A_KEY = 2
"""Ranks of some jobs differ in a variable: these two are compared, the others judged."""
MOST_BYTES = 64 * 1024
"""Largest review that is kept: 128 times 2 of these are some 20 MB at the very most."""
_SELECTION_KEYS = (SELECTION_ANNOTATION, DEFAULT_SELECTION_ANNOTATION)

Key = tuple[str, str, tuple[tuple[str, str], ...]]


class Precedent(msgspec.Struct, frozen=True):
    """One pod that was judged, and what was said."""

    spec: Spec | None
    ruling: Ruling


def find(request: AdmissionRequest, snapshot: Snapshot) -> Ruling | None:
    """Return the ruling on an equal pod; None where there is none, or none is needed."""
    key = _key(request)
    if key is None:
        return None
    spec = (request.object or {}).get("spec")
    for precedent in snapshot.precedents.get(key, ()):
        if precedent.spec == spec:
            found: Ruling = precedent.ruling
            return found
    return None


def keep(request: AdmissionRequest, snapshot: Snapshot, ruling: Ruling, size: int) -> None:
    """Keep a ruling for pods to come.

    Args:
        request: What was judged; its object is as it arrived.
        snapshot: By which it was judged.
        ruling: What was said.
        size: Of the review in bytes.
    """
    key = _key(request)
    if key is None or size > MOST_BYTES:
        return
    precedents = snapshot.precedents
    if key not in precedents and len(precedents) >= MOST_KEYS:
        precedents.clear()
    latest = Precedent((request.object or {}).get("spec"), ruling)
    precedents[key] = [latest, *precedents.get(key, ())[: MOST_A_KEY - 1]]


def _key(request: AdmissionRequest) -> Key | None:
    """Return all that a ruling reads of a pod beside its spec; None for other reviews."""
    pod = request.object
    if pod is None or not wish.concerns(pods.annotations(pod)):
        return None
    if not scope.is_creation(request, pod):
        return None
    return request.namespace or "", mpi_role(pods.labels(pod)), _annotations(pod)


def _annotations(pod: Pod) -> tuple[tuple[str, str], ...]:
    return tuple(
        [
            (key, value)
            for key, value in pods.annotations(pod).items()
            if wish.is_ours(key) or key in _SELECTION_KEYS
        ]
    )
