"""Intent to edits: the injectors in their order."""

from policies.intent import Intent
from policies.refusal import Notice
from webhook.injectors import INJECTORS, stamp
from webhook.pods.edits import Edit
from webhook.pods.pod import Pod


def plan(pod: Pod, intent: Intent) -> tuple[list[Edit], list[Notice]]:
    """Return the edits of all injectors in order, and what their author should know."""
    edits: list[Edit] = []
    notices: list[Notice] = list(intent.notices)
    for inject in (stamp.inject,) if intent.is_bystander else INJECTORS:
        for item in inject(pod, intent):
            if isinstance(item, Notice):
                notices.append(item)
            else:
                edits.append(item)
    return edits, notices
