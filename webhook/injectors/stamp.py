"""The status annotation: what shaped this pod. For people; no check reads it."""

import json
from collections.abc import Iterator

from policies.intent import Intent
from policies.names import ANNOTATION_STATUS
from webhook.pods.edits import SetAnnotation
from webhook.pods.pod import Pod


def inject(_: Pod, intent: Intent) -> Iterator[SetAnnotation]:
    """Yield the status: networks, interfaces, resources, partition, policy generation, version."""
    resources: dict[str, int] = {}
    for one in intent.equipped:
        for name, number in one.resources:
            resources[name] = resources.get(name, 0) + number
    status = {
        "networks": intent.networks,
        "interfaces": [one.interface for one in intent.attachments if one.interface],
        "resources": resources,
        "partition": intent.partition,
        "policyGeneration": intent.generation,
        "version": intent.version,
    }
    kept = {key: value for key, value in status.items() if value not in ("", [], {}, ())}
    yield SetAnnotation(ANNOTATION_STATUS, json.dumps(kept, separators=(",", ":")))
