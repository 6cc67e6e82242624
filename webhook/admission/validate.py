"""Reviews of our own kinds: one in, one answer out, decided by its bytes and a snapshot alone."""

from typing import Final

from policies import crosschecks, names
from policies.crosschecks import Write
from policies.refusal import Notice, Refusal
from policies.snapshot import Snapshot
from webhook.admission import review
from webhook.admission.answer import Answer, answer_about
from webhook.admission.errors import MalformedReview
from webhook.admission.review import ObjectRequest
from webhook.admission.ruling import rule
from webhook.admission.verdict import Denied, Unchanged

KINDS: Final = frozenset({names.NETWORK, names.PARTITION, names.POLICY})
OTHER: Final = "Other"
"""How logs and metrics call what is none of our business."""
MOST_BYTES: Final = 512 * 1024
"""Of one object: many times the largest that is of use, and some 11 MB of empty maps at most."""
TOO_LARGE: Final = rule(
    Unchanged((Notice(f"it is larger than {MOST_BYTES // 1024} KiB, so nothing was checked", 1),))
)


def validate(body: bytes, snapshot: Snapshot) -> Answer:
    """Return the answer to an AdmissionReview of an object of ours; others pass untouched.

    Nothing is waited for: what an object names and is not there yet is a warning.

    Args:
        body: The request's body as received.
        snapshot: What the cluster wants at this moment.

    Raises:
        MalformedReview: The body is no AdmissionReview that can be answered.
    """
    request = review.decode_object(body)
    kind = request.kind.kind
    if request.kind.group != names.GROUP or kind not in KINDS or request.sub_resource:
        return answer_about(OTHER, request.name or "", request, rule(Unchanged()))
    if kind == names.POLICY and not request.namespace:
        raise MalformedReview("request body: request.namespace is empty, but policies are in one")
    if max(len(request.object), len(request.old_object)) > MOST_BYTES:
        return answer_about(kind, request.name or "", request, TOO_LARGE)
    write = _write(request)
    found = crosschecks.judge(write, snapshot)
    verdict = Denied(found) if isinstance(found, Refusal) else Unchanged(found)
    return answer_about(kind, write.name, request, rule(verdict))


def _write(request: ObjectRequest) -> Write:
    new, old = review.decode_own(request.object), review.decode_own(request.old_object)
    # The request has no name where the API server makes it up.
    own = ((new or old or {}).get("metadata") or {}).get("name")
    return Write(
        kind=request.kind.kind,
        operation=request.operation,
        name=request.name or own or "",
        namespace=request.namespace or "",
        object=new,
        old=old,
    )
