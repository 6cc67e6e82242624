"""What others will say to the pod: its ResourceQuota, and Pod Security admission.

Knows how the API server counts extended resources of a pod, and the levels of a namespace.

Source: kubernetes ``pkg/quota/v1/evaluator/core/pods.go`` (``requests.<resource>``, one value a
pod: the sum of what runs along, or a larger init container).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from policies import podsecurity
from policies.accept import WHOLE_DEVICE_MODES
from policies.names import POD_SECURITY_ENFORCE
from policies.quantity import whole
from webhook.cli.preview.verdicts import Judged
from webhook.cli.preview.world import World
from webhook.pods import pod as pods

_SOFT_LEVELS: Final = ("warn", "audit")


@dataclass(frozen=True, slots=True)
class Counted:
    """What a quota counts for the pods of one template.

    Attributes:
        resource: ``requests.<resource>``.
        per_pod: For one pod.
        replicas: Pods at a time; None where unknown.
        quota: The policy's number for it, over all its networks; None where it sets none.
    """

    resource: str
    per_pod: int
    replicas: int | None
    quota: int | None

    @property
    def total(self) -> int | None:
        """For all pods of the template; None where their number is unknown."""
        return None if self.replicas is None else self.per_pod * self.replicas


def counted(judged: Judged, world: World) -> tuple[Counted, ...]:
    """Return what each pod's devices count for, in the order of the networks' rails."""
    if judged.applicable is None:
        return ()
    limits = _quotas(judged, world)
    amounts = _requests(judged.after)
    return tuple(
        Counted(f"requests.{name}", amounts[name], judged.template.replicas, limits[name])
        for name in limits
        if amounts.get(name)
    )


def pod_security(judged: Judged, world: World) -> tuple[str, ...]:
    """Return what the namespace's Pod Security levels say to what is added; nothing if unknown."""
    if judged.intent is None:
        return ()
    if judged.namespace not in world.namespaces:
        return (f"labels of namespace {judged.namespace} are not known, so nothing is checked",)
    labels = world.snapshot.shard(judged.namespace).labels
    enforced = labels.get(POD_SECURITY_ENFORCE)
    added = ", ".join(judged.intent.add_capabilities) or "what is added"
    first = (
        f"namespace {judged.namespace} enforces {enforced}, which allows {added}"
        if enforced
        else f"namespace {judged.namespace} enforces no level"
    )
    return (first, *_soft(judged, labels))


def _soft(judged: Judged, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield levels that only warn or audit, and would say something."""
    assert judged.intent  # noqa: S101 the caller has looked
    for kind in _SOFT_LEVELS:
        level = podsecurity.level(
            {POD_SECURITY_ENFORCE: labels.get(f"pod-security.kubernetes.io/{kind}", "")}
        )
        forbidden = list(podsecurity.forbidden(level, judged.intent.add_capabilities))
        if judged.intent.host_network and level:
            forbidden.append("hostNetwork")
        if forbidden:
            yield f"level {level} is at {kind}: it will speak of {', '.join(forbidden)}"


def _quotas(judged: Judged, world: World) -> dict[str, int | None]:
    """Return every resource of the pod's networks with its quota: the sum over networks."""
    assert judged.applicable  # noqa: S101 the caller has looked
    found: dict[str, int | None] = {}
    for order in judged.applicable.orders:
        quota = world.quotas.get((judged.namespace, order.offer.network))
        for lane in order.offer.lanes:
            found[lane.resource] = _total(judged, world, lane.resource) if quota else None
    return found


def _total(judged: Judged, world: World, resource: str) -> int | None:
    """Return the sum of the quotas of all granted networks with a resource; None without one."""
    assert judged.applicable  # noqa: S101 the caller has looked
    total = 0
    for grant in judged.applicable.tenancy.grants:
        network = world.snapshot.networks.get(grant.name)
        if network is None or network.model is None:
            continue
        spec = network.model.spec
        rails = sum(rail.resource_name == resource for rail in spec.rails)
        if not rails:
            continue
        quota = world.quotas.get((judged.namespace, grant.name))
        if quota is None:
            return None
        total += quota * (rails if spec.mode in WHOLE_DEVICE_MODES else 1)
    return total


def _requests(pod: Any) -> dict[str, int]:  # noqa: ANN401 a pod's JSON
    """Return the whole extended resources that a pod requests, as the API server counts them."""
    along: dict[str, int] = {}
    before: dict[str, int] = {}
    for place, container in pods.containers(pod):
        for name, quantity in ((container.get("resources") or {}).get("requests") or {}).items():
            number = whole(quantity) if "/" in name and isinstance(quantity, str | int) else None
            if number is None:
                continue
            if pods.runs_along(place, container):
                along[name] = along.get(name, 0) + number
            else:
                before[name] = max(before.get(name, 0), number)
    return {name: max(along.get(name, 0), before.get(name, 0)) for name in {**along, **before}}
