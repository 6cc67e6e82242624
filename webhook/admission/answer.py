"""The answer to one review: its bytes, and the decision for logs and metrics."""

import msgspec

from policies.refusal import Notice
from webhook.admission import review
from webhook.admission.review import AdmissionRequest
from webhook.admission.verdict import Denied, Patched, Unchanged, Verdict
from webhook.pods import pod as pods


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided, in fields that logs and metrics may show."""

    uid: str
    namespace: str
    pod: str
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


class Waiting(msgspec.Struct, frozen=True):
    """A fact is missing that may arrive within a moment; `answer` is sent if it does not."""

    kind: str
    namespace: str
    name: str
    answer: Answer


def answer(request: AdmissionRequest, verdict: Verdict) -> Answer:
    """Return the answer that says a verdict."""
    head = {
        "uid": request.uid,
        "namespace": request.namespace or "",
        "pod": pods.called(request.object or {}),
        "operation": request.operation,
        "dry_run": bool(request.dry_run),
    }
    match verdict:
        case Denied(refusal):
            body = review.encode(
                request.uid,
                refusal=(refusal.reason.code, refusal.reason.value, refusal.message),
                audit={"decision": f"denied: {refusal.reason}"},
            )
            decision = Decision(
                **head, verdict="Denied", reason=refusal.reason.value, message=refusal.message
            )
        case Patched():
            warnings = _texts(verdict.notices)
            body = review.encode(
                request.uid, ops=verdict.ops, warnings=warnings, audit=_audit(verdict)
            )
            decision = Decision(
                **head,
                verdict="Patched" if verdict.ops else "Unchanged",
                networks=verdict.intent.networks,
                policy=verdict.intent.policy,
                ops=len(verdict.ops),
                warnings=warnings,
            )
        case Unchanged():
            warnings = _texts(verdict.notices)
            body = review.encode(request.uid, warnings=warnings)
            decision = Decision(**head, verdict="Unchanged", warnings=warnings)
    return Answer(body, decision)


def _texts(notices: tuple[Notice, ...]) -> tuple[str, ...]:
    """Return warnings, the most important first, each once."""
    if not notices:
        return ()
    return tuple(dict.fromkeys(one.text for one in sorted(notices, key=lambda one: one.rank)))


def _audit(verdict: Patched) -> dict[str, str]:
    """Return audit annotations; equal on both rounds of one request, as the API server wants."""
    intent = verdict.intent
    found = {
        "decision": "equipped",
        "network": ",".join(intent.networks),
        "partition": intent.partition,
        "policy": intent.policy,
        "policy-generation": str(intent.generation),
    }
    return {key: value for key, value in found.items() if value}
