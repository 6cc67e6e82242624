"""One pod template judged by the same engine as the server's, with everything it decided.

The answer is that of `webhook.admission.handle.handle`; the rest is the decision looked at again,
step by step, so that it can be explained.
"""

import json
from base64 import b64decode
from dataclasses import dataclass, replace
from typing import Any

from policies.intent import Intent
from policies.memo import decided
from policies.refusal import Refusal
from policies.select import Applicable
from webhook.admission import review
from webhook.admission.answer import Answer, Waiting
from webhook.admission.describe import describe
from webhook.admission.errors import AdmissionError
from webhook.admission.handle import handle
from webhook.cli import reviews
from webhook.cli.preview import changes
from webhook.cli.preview.changes import Change
from webhook.cli.preview.world import World
from webhook.pods.apply import apply
from webhook.pods.patch import Op
from webhook.pods.templates import Template

UNKNOWN, UNREADABLE = "Unknown", "Unreadable"
"""Verdicts beside those of the engine: a fact is missing; this is no pod."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of the pods of one template.

    Attributes:
        template: The pods.
        owner: ``Kind namespace/name`` of their workload.
        namespace: Where they are created.
        verdict: Unchanged, Patched, Denied, Unknown or Unreadable.
        reason: CamelCase reason of a refusal, else empty.
        message: Of a refusal, or what is missing.
        warnings: For their author, the most important first.
        before: The pod as the API server hands it over.
        after: The pod with the patch applied; equal to ``before`` without one.
        ops: The patch, RFC 6902.
        applicable: The policy's view, where the pod is equipped.
        intent: What it receives, where it is equipped.
        changes: Each change with its reason.
    """

    template: Template
    owner: str
    namespace: str
    verdict: str
    reason: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    before: Any = None
    after: Any = None
    ops: tuple[dict[str, Any], ...] = ()
    applicable: Applicable | None = None
    intent: Intent | None = None
    changes: tuple[Change, ...] = ()


"""The name that the demonstration (``tests/demo``) knows it by."""


def judge(template: Template, owner: str, namespace: str, world: World) -> Judged:
    """Return what becomes of a template's pods.

    Args:
        template: The pods.
        owner: ``Kind namespace/name`` of their workload.
        namespace: Where they are created.
        world: What is known.
    """
    problem = reviews.problem(template.pod)
    if problem:
        return Judged(template, owner, namespace, UNREADABLE, message=problem)
    before = reviews.defaulted(template.pod, namespace)
    try:
        body = reviews.review(before, namespace, f"preview:{owner}:{template.path}")
        result = handle(body, world.snapshot)
    except (AdmissionError, TypeError) as err:
        return Judged(template, owner, namespace, UNREADABLE, message=_unreadable(err))
    if isinstance(result, Waiting) and not world.has_folder:
        missing = "/".join(filter(None, (result.namespace, result.name)))
        message = f"{result.kind} {missing} is in none of the files"
        reason = result.answer.decision.reason
        return Judged(template, owner, namespace, UNKNOWN, reason, message)
    answer = result.answer if isinstance(result, Waiting) else result
    judged = Judged(
        template=template,
        owner=owner,
        namespace=namespace,
        verdict=answer.decision.verdict,
        reason=answer.decision.reason,
        message=answer.decision.message,
        warnings=tuple(dict.fromkeys(answer.decision.warnings)),
        before=before,
        after=before,
    )
    return (
        _equipped(judged, answer, body, world)
        if answer.decision.policy or answer.decision.ops
        else judged
    )


def _equipped(judged: Judged, answer: Answer, body: bytes, world: World) -> Judged:
    """Return the verdict about a pod that is on a network, with all that was decided on the way."""
    ops = _ops(answer)
    after = apply([Op(**op) for op in ops], judged.before)
    applicable, intent = _explained(body, judged.namespace, world)
    return replace(
        judged,
        after=after,
        ops=tuple(ops),
        applicable=applicable,
        intent=intent,
        changes=_changes(body, applicable, intent),
    )


def _ops(answer: Answer) -> list[dict[str, Any]]:
    """Return the patch as it would be sent."""
    response = json.loads(answer.body)["response"]
    patch: list[dict[str, Any]] = json.loads(b64decode(response.get("patch") or "W10="))
    return patch


def _explained(
    body: bytes, namespace: str, world: World
) -> tuple[Applicable, Intent] | tuple[None, None]:
    """Return what the engine decided between reading the pod and writing the patch."""
    pod = review.decode(body).object or {}
    subject = describe(pod, namespace, world.snapshot.rules)
    if isinstance(subject, Refusal):
        return None, None
    found = decided(subject, world.snapshot)
    return found if isinstance(found, tuple) else (None, None)


def _changes(
    body: bytes, applicable: Applicable | None, intent: Intent | None
) -> tuple[Change, ...]:
    if applicable is None or intent is None:
        return ()
    return changes.explained(review.decode(body).object or {}, applicable, intent)


def _unreadable(err: Exception) -> str:
    """Return why the API server would not take the pod, without the parser's own words for it."""
    text = str(err).rpartition(f"{review.API_VERSION}: ")[2]
    problem, _, path = text.replace("`", "").partition(" - at ")
    where = f"{path.removeprefix('$.request.object.')}: " if path else ""
    return f"{where}{problem[:1].lower()}{problem[1:]}"
