"""The answer to one review: its bytes, and the decision for logs and metrics."""

import msgspec

from webhook.admission import review
from webhook.admission.review import AdmissionRequest, Request
from webhook.admission.ruling import Ruling
from webhook.pods import pod as pods

POD = "Pod"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided, in fields that logs and metrics may show."""

    uid: str
    namespace: str
    kind: str = POD
    """Pod, a kind of ours, or Other: never the client's text."""
    name: str
    operation: str
    dry_run: bool
    verdict: str
    """Unchanged, Patched or Denied."""
    reason: str = ""
    """CamelCase reason of a refusal; else empty."""
    message: str = ""
    networks: tuple[str, ...] = ()
    policy: str = ""
    ops: int = 0
    warnings: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """The bytes to send with HTTP 200, and what they say."""

    body: bytes
    decision: Decision
    doubted: tuple[str, str, str] | None = None
    """Kind, namespace and name of an object that makes this another answer if it was written a
    moment ago; None where that is not likely."""


class Waiting(msgspec.Struct, frozen=True):
    """A fact is missing that may arrive within a moment; `answer` is sent if it does not."""

    kind: str
    namespace: str
    name: str
    answer: Answer


def answer(request: AdmissionRequest, ruling: Ruling) -> Answer:
    """Return a ruling on a pod as the answer to one request."""
    return answer_about(POD, pods.called(request.object or {}), request, ruling)


def answer_about(kind: str, name: str, request: Request, ruling: Ruling) -> Answer:
    """Return a ruling on an object of any kind as the answer to one request.

    Args:
        kind: Of a closed set, since metrics count by it.
        name: Of the object.
        request: Which is answered.
        ruling: What is said.
    """
    return Answer(
        review.closed(ruling.head, request.uid),
        Decision(
            uid=request.uid,
            namespace=request.namespace or "",
            kind=kind,
            name=name,
            operation=request.operation,
            dry_run=bool(request.dry_run),
            verdict=ruling.verdict,
            reason=ruling.reason,
            message=ruling.message,
            networks=ruling.networks,
            policy=ruling.policy,
            ops=ruling.ops,
            warnings=ruling.warnings,
        ),
    )
