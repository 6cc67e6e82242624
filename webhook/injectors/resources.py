"""Extended resources: the same whole number in requests and limits, topped up, never lowered."""

from collections.abc import Iterator

from policies.intent import Intent
from policies.quantity import whole
from webhook.pods import pod as pods
from webhook.pods.edits import RequestResource
from webhook.pods.pod import Pod


def inject(pod: Pod, intent: Intent) -> Iterator[RequestResource]:
    """Yield what each container with devices shall ask for."""
    for one in intent.equipped:
        if not one.resources:
            continue
        resources = pods.container_at(pod, one.place).get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name, amount in one.resources:
            if not (_is(limits.get(name), amount) and _is(requests.get(name), amount)):
                yield RequestResource(one.place, name, str(amount))


def _is(quantity: str | float | None, amount: int) -> bool:
    return quantity is not None and whole(quantity) == amount
