"""The answer to one review: its bytes, and the decision for logs and metrics."""

from typing import assert_never

import msgspec

from policies.refusal import Notice, Refusal
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
    match verdict:
        case Denied(refusal):
            body = review.encode(
                request.uid,
                refusal=(refusal.reason.code, refusal.reason.value, refusal.message),
                audit={"decision": f"denied: {refusal.reason}"},
            )
            return Answer(body, _decision(request, "Denied", refusal=refusal))
        case Patched(ops, _, notices):
            warnings = _texts(notices)
            body = review.encode(request.uid, ops=ops, warnings=warnings, audit=_audit(verdict))
            verb = "Patched" if ops else "Unchanged"
            return Answer(body, _decision(request, verb, warnings, patched=verdict))
        case Unchanged(notices):
            warnings = _texts(notices)
            body = review.encode(request.uid, warnings=warnings)
            return Answer(body, _decision(request, "Unchanged", warnings))
        case _:
            assert_never(verdict)


def _decision(
    request: AdmissionRequest,
    verdict: str,
    warnings: tuple[str, ...] = (),
    *,
    refusal: Refusal | None = None,
    patched: Patched | None = None,
) -> Decision:
    return Decision(
        uid=request.uid,
        namespace=request.namespace or "",
        pod=pods.called(request.object or {}),
        operation=request.operation,
        dry_run=bool(request.dry_run),
        verdict=verdict,
        reason=refusal.reason.value if refusal else "",
        message=refusal.message if refusal else "",
        networks=patched.intent.networks if patched else (),
        policy=patched.intent.policy if patched else "",
        ops=len(patched.ops) if patched else 0,
        warnings=warnings,
    )


def _texts(notices: tuple[Notice, ...]) -> tuple[str, ...]:
    """Return warnings, the most important first, each once."""
    if not notices:
        return ()
    spoken = [one for one in notices if not one.is_silent]
    return tuple(dict.fromkeys(one.text for one in sorted(spoken, key=lambda one: one.rank)))


def _audit(verdict: Patched) -> dict[str, str]:
    """Return audit annotations; equal on both rounds of one request, as the API server wants."""
    intent = verdict.intent
    overstepped = dict.fromkeys(one.not_enforced for one in verdict.notices if one.not_enforced)
    found = {
        "decision": "equipped",
        "network": ",".join(intent.networks),
        "partition": intent.partition,
        "policy": intent.policy,
        "policy-generation": str(intent.generation),
        "not-enforced": ",".join(overstepped),
    }
    return {key: value for key, value in found.items() if value}
