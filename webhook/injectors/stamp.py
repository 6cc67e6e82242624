"""The status annotation: which networks, policy and generation shaped this pod."""

from collections.abc import Iterator

from policies.intent import Intent
from policies.names import ANNOTATION_STATUS
from webhook.pods import pod as pods
from webhook.pods.edits import SetAnnotation
from webhook.pods.pod import Pod


def inject(pod: Pod, intent: Intent) -> Iterator[SetAnnotation]:
    """Yield the status; one that is there is recomputed, also where a pod gets nothing."""
    if not intent.is_bystander or ANNOTATION_STATUS in pods.annotations(pod):
        yield SetAnnotation(ANNOTATION_STATUS, intent.status)
