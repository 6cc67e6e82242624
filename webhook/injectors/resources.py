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
        for name, need in one.resources:
            limit, request = limits.get(name), requests.get(name)
            amount = max(need, _number(limit), _number(request))
            if not (_is(limit, amount) and _is(request, amount)):
                yield RequestResource(one.place, name, str(amount))


def _is(quantity: str | float | None, amount: int) -> bool:
    return quantity is not None and _number(quantity) == amount


def _number(quantity: str | float | None) -> int:
    if quantity is None or isinstance(quantity, float):
        return 0
    return whole(quantity) or 0
