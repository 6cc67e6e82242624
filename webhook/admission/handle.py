"""The whole flow: one review in, one answer out, decided by its bytes and a snapshot alone."""

import msgspec

from policies import wish
from policies.memo import decided
from policies.names import POLICY, POLICY_NAME
from policies.refusal import Pending, Reason, Refusal
from policies.select import NotApplicable
from policies.snapshot import Snapshot
from webhook import isolation
from webhook.admission import precedents, review, scope
from webhook.admission.answer import Answer, Waiting, answer
from webhook.admission.describe import describe
from webhook.admission.errors import MalformedReview
from webhook.admission.plan import plan
from webhook.admission.ruling import rule
from webhook.admission.verdict import Denied, Patched, Unchanged, Verdict
from webhook.pods import patch
from webhook.pods import pod as pods
from webhook.pods.apply import apply
from webhook.pods.pod import Pod

NOT_CONCERNED = rule(Unchanged())
"""The ruling on all that is none of our business."""
_NOT_GRANTED = frozenset({Reason.NETWORK_NOT_GRANTED, Reason.PARTITION_NOT_GRANTED})


def handle(body: bytes, snapshot: Snapshot) -> Answer | Waiting:
    """Return the answer to an AdmissionReview, or what it waits for.

    Args:
        body: The request's body as received.
        snapshot: What the cluster wants at this moment.

    Raises:
        MalformedReview: The body is no AdmissionReview that can be answered.
    """
    request = review.decode(body)
    pod = request.object
    if pod is None or not wish.concerns(pods.annotations(pod)):
        return answer(request, NOT_CONCERNED)
    if not scope.is_creation(request, pod):
        return answer(request, rule(Unchanged(scope.notices(request, pod))))
    if not request.namespace:
        raise MalformedReview("request body: request.namespace is empty, but pods are in one")
    known = precedents.look(request, pod, snapshot)
    if known.ruling is not None:
        return answer(request, known.ruling)
    verdict = decide(pod, request.namespace, snapshot)
    if isinstance(verdict, Pending):
        refused = answer(request, rule(Denied(verdict.refusal)))
        return Waiting(verdict.kind, verdict.namespace, verdict.name, refused)
    if _is_doubted(verdict, request.namespace, snapshot):
        found = answer(request, rule(verdict))
        return msgspec.structs.replace(found, doubted=(POLICY, request.namespace, POLICY_NAME))
    return answer(request, known.keep(body, rule(verdict)))


def _is_doubted(verdict: Verdict, namespace: str, snapshot: Snapshot) -> bool:
    """Whether a policy that was written a moment before the pod would change the verdict.

    That is where the policy does not grant what is asked for, and where there is none and the
    settings ignore that.
    """
    if isinstance(verdict, Denied):
        return verdict.refusal.reason in _NOT_GRANTED
    return isinstance(verdict, Unchanged) and not snapshot.knows(POLICY, namespace, POLICY_NAME)


def decide(pod: Pod, namespace: str, snapshot: Snapshot) -> Verdict | Pending:
    """Return what becomes of a pod that is being created and asks for a network."""
    subject = describe(pod, namespace, snapshot.rules)
    found = subject if isinstance(subject, Refusal) else decided(subject, snapshot)
    match found:
        case Refusal():
            return Denied(found)
        case Pending():
            return found
        case NotApplicable():
            return Unchanged(found.notices)
    return _equipped(isolation.Case(pod, *found, snapshot))


def _equipped(case: isolation.Case) -> Verdict | Pending:
    """Return the pod with all that it shall receive, unless its author overstepped."""
    judged = isolation.judge(case)
    match judged:
        case Refusal():
            return Denied(judged)
        case Pending():
            return judged
    edits, notices = plan(case.pod, case.intent)
    ops = patch.render(edits, case.pod)
    apply(ops, case.pod)
    return Patched(tuple(ops), case.intent, (*judged, *notices))
