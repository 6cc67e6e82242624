"""The network selection annotation: the user's elements first and untouched, then ours."""

from collections.abc import Iterator

from policies.intent import Intent
from policies.names import SELECTION_ANNOTATION
from webhook.pods import pod as pods
from webhook.pods import selection
from webhook.pods.edits import SetAnnotation
from webhook.pods.pod import Pod


def inject(pod: Pod, intent: Intent) -> Iterator[SetAnnotation]:
    """Yield the annotation with one element for each new attachment; nothing where none is."""
    added = [
        (one.name, one.namespace, one.interface) for one in intent.attachments if not one.selected
    ]
    if added:
        value = pods.annotations(pod).get(SELECTION_ANNOTATION, "")
        yield SetAnnotation(SELECTION_ANNOTATION, selection.appended(value, added))
