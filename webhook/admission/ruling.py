"""A verdict, worded and encoded for everybody: all of an answer but whom it answers."""

from itertools import islice
from typing import assert_never

import msgspec

from policies.refusal import Notice, cleaned
from webhook.admission import review
from webhook.admission.verdict import Denied, Patched, Unchanged, Verdict


class Ruling(msgspec.Struct, frozen=True):
    """What is said to whoever creates such a pod."""

    head: bytes
    """The AdmissionReview without its uid (see `review.closed`)."""
    verdict: str
    """Unchanged, Patched or Denied."""
    reason: str = ""
    """CamelCase reason of a refusal; else empty."""
    message: str = ""
    networks: tuple[str, ...] = ()
    policy: str = ""
    ops: int = 0
    warnings: tuple[str, ...] = ()


def rule(verdict: Verdict) -> Ruling:
    """Return a verdict in words and bytes."""
    match verdict:
        case Denied(refusal):
            reason, message = refusal.reason, cleaned(refusal.message)
            head = review.head(
                refusal=(reason.code, reason.value, message),
                audit={"decision": f"denied: {reason}"},
            )
            return Ruling(head, "Denied", reason.value, message)
        case Patched(ops, intent, notices):
            warnings = _texts(notices)
            return Ruling(
                head=review.head(ops=ops, warnings=warnings, audit=_audit(verdict)),
                verdict="Patched" if ops else "Unchanged",
                networks=intent.networks,
                policy=intent.policy,
                ops=len(ops),
                warnings=warnings,
            )
        case Unchanged(notices):
            warnings = _texts(notices)
            return Ruling(review.head(warnings=warnings), "Unchanged", warnings=warnings)
        case _:
            assert_never(verdict)


def _texts(notices: tuple[Notice, ...]) -> tuple[str, ...]:
    """Return the warnings that are sent: the most important first, each once, cut to size."""
    if not notices:
        return ()
    spoken = [one for one in notices if not one.is_silent]
    texts = dict.fromkeys(one.text for one in sorted(spoken, key=lambda one: one.rank))
    return tuple(cleaned(text, review.MAX_WARNING) for text in islice(texts, review.MAX_WARNINGS))


def _audit(verdict: Patched) -> dict[str, str]:
    """Return audit annotations; equal on both rounds of one request, as the API server wants."""
    intent = verdict.intent
    overstepped = dict.fromkeys(one.not_enforced for one in verdict.notices if one.not_enforced)
    found = {
        "decision": "not equipped" if intent.is_bystander else "equipped",
        "network": ",".join(intent.networks),
        "partition": intent.partition,
        "policy": intent.policy,
        "policy-generation": str(intent.generation),
        "not-enforced": ",".join(overstepped),
    }
    return {key: value for key, value in found.items() if value}
