"""Extended resources: the same whole number in requests and limits, topped up, never lowered."""

from collections.abc import Iterator

from policies.intent import Intent
from policies.quantity import whole
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import RequestResource
from webhook.pods.pod import Pod


def inject(pod: Pod, intent: Intent) -> Iterator[RequestResource | Notice]:
    """Yield what each container with devices shall ask for."""
    for one in intent.equipped:
        resources = pods.container_at(pod, one.place).get("resources") or {}
        for name, need in one.resources:
            asked = [(resources.get(side) or {}).get(name) for side in ("limits", "requests")]
            there = max((_number(quantity) for quantity in asked), default=0)
            amount = max(there, need)
            if any(_number(quantity) != amount or quantity is None for quantity in asked):
                yield RequestResource(one.place, name, str(amount))


def _number(quantity: str | float | None) -> int:
    return (whole(quantity) or 0) if isinstance(quantity, str | int) else 0
