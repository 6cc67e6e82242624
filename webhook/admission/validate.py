"""Reviews of our own kinds: one in, one answer out, decided by its bytes and a snapshot alone."""

from typing import Final

from policies import crosschecks, names
from policies.crosschecks import Write
from policies.refusal import Refusal
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
    name = _name(request)
    is_ours = request.kind.group == names.GROUP and request.kind.kind in KINDS
    if not is_ours or request.sub_resource:
        return answer_about(OTHER, name, request, rule(Unchanged()))
    kind = request.kind.kind
    if kind == names.POLICY and not request.namespace:
        raise MalformedReview("request body: request.namespace is empty, but policies are in one")
    write = Write(
        kind=kind,
        operation=request.operation,
        name=name,
        namespace=request.namespace or "",
        object=request.object,
        old=request.old_object,
    )
    found = crosschecks.judge(write, snapshot)
    verdict = Denied(found) if isinstance(found, Refusal) else Unchanged(found)
    return answer_about(kind, name, request, rule(verdict))


def _name(request: ObjectRequest) -> str:
    """Return the object's name; the request has none where the API server makes it up."""
    metadata = (request.object or request.old_object or {}).get("metadata")
    own = metadata.get("name") if isinstance(metadata, dict) else None
    return request.name or (own if isinstance(own, str) else "")
