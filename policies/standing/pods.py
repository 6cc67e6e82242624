"""Which running pods would be treated in another way now than when they were admitted.

Nothing happens to them: this is for the status of the policy, an event and people. What a pod was
given stands in its annotations, which its tenant may edit; a lie there changes a count, no right.
"""

from collections.abc import Mapping

import msgspec

from policies.accept import MULTUS_MODES
from policies.names import WEBHOOK_KEYS
from policies.refusal import Refusal
from policies.select import Applicable, Order, select
from policies.snapshot import Snapshot
from policies.subject import Subject
from policies.wish import is_ours

ALL = "All"


class RunningPod(msgspec.Struct, frozen=True, gc=False):
    """A pod that was equipped when it was admitted."""

    namespace: str
    name: str
    annotations: tuple[tuple[str, str], ...]
    """Those below our prefix."""
    selected: frozenset[tuple[str, str]]
    """``(namespace, name)`` of the NADs that it selects."""


def ours(annotations: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return a pod's annotations below our prefix, without what the webhook wrote into them."""
    return tuple(
        (key, "" if key in WEBHOOK_KEYS else value)
        for key, value in annotations.items()
        if is_ours(key)
    )


def is_outdated(snapshot: Snapshot, pod: RunningPod) -> bool:
    """Whether the pod's wish would be refused now, or lead to other attachments.

    A policy or NAD that is only not seen yet changes nothing.
    """
    subject = Subject(namespace=pod.namespace, annotations=pod.annotations, containers=())
    choice = select(subject, snapshot)
    if isinstance(choice, Applicable):
        return any(_differs(order, pod) for order in choice.orders)
    return isinstance(choice, Refusal)


def _differs(order: Order, pod: RunningPod) -> bool:
    """Whether a network would attach the pod in another way now."""
    found = order.offer
    if found.spec.mode not in MULTUS_MODES:
        return False
    lanes = {(lane.namespace, lane.name) for lane in found.lanes}
    attached = lanes & pod.selected
    most = found.grant.max_per_pod
    if most is not None and len(attached) > most:
        return True
    takes_all = order.count is None and found.spec.count in {None, ALL}
    by_device = found.spec.per_accelerator is not None
    return attached != lanes if takes_all and not by_device else not attached
