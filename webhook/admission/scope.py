"""Which reviews the mutation is about: pods that are being created, and no others."""

from policies.names import ANNOTATION_NETWORK, MIRROR_ANNOTATION
from policies.refusal import Notice
from webhook.admission.review import AdmissionRequest
from webhook.pods import pod as pods
from webhook.pods.pod import Pod


def is_creation(request: AdmissionRequest, pod: Pod) -> bool:
    """Whether a review is of a pod that may still be changed.

    A mirror pod already runs on its node; a pod without containers is left to the API server's
    own validation.
    """
    return (
        request.operation == "CREATE"
        and not request.sub_resource
        and (request.kind.kind or pod.get("kind")) == "Pod"
        and MIRROR_ANNOTATION not in pods.annotations(pod)
        and bool(pods.spec(pod).get("containers"))
    )


def notices(request: AdmissionRequest, pod: Pod) -> tuple[Notice, ...]:
    """Return what the author of an update should know: the annotation comes too late."""
    old = ((request.old_object or {}).get("metadata") or {}).get("annotations") or {}
    wanted = pods.annotations(pod).get(ANNOTATION_NETWORK)
    if request.operation != "UPDATE" or wanted is None or wanted == old.get(ANNOTATION_NETWORK):
        return ()
    return (Notice(f"{ANNOTATION_NETWORK} has no effect on a pod that exists; create it anew", 1),)
