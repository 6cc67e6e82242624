"""How the decision came about, in sentences: policy, networks, rails, containers.

Knows policies' words; shows what was decided and decides nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from policies.intent import Intent
from policies.partition import shown
from policies.refusal import cleaned
from policies.select import Applicable, Order
from policies.subject import Container
from webhook.cli.preview.changes import LONGEST_NAME
from webhook.cli.preview.verdicts import Judged


@dataclass(frozen=True, slots=True)
class NetworkTrail:
    """One network of a pod.

    Attributes:
        name: Of the RDMANetwork.
        mode: How the pod joins it.
        fabric: Where its numbers are unique.
        partition: The policy's name of the tenant's partition; empty where there is none.
        number: As people write it; empty where there is none.
        isolation: Hard, Soft or None.
        rails: Interface, NAD and resource of each attachment; without interface in modes that
            hand out devices alone.
    """

    name: str
    mode: str
    fabric: str
    partition: str
    number: str
    isolation: str
    rails: tuple[dict[str, str], ...]

    def line(self) -> str:
        """Return the network in one sentence."""
        number = f"partition {self.partition} = {self.number}, " if self.number else ""
        fabric = f" on fabric {self.fabric}" if self.fabric != self.name else ""
        return f"{self.name} ({self.mode}{fabric}), {number}isolation {self.isolation}"


def networks(judged: Judged) -> tuple[NetworkTrail, ...]:
    """Return the networks of an equipped pod, in its own order."""
    if judged.applicable is None or judged.intent is None:
        return ()
    return tuple(_network(order, judged.intent) for order in judged.applicable.orders)


def policy(applicable: Applicable) -> str:
    """Return the policy in one sentence."""
    tenancy = applicable.tenancy
    level = {
        "Enforce": "Enforce",
        "Warn": "Warn: what it forbids is warned of, not refused",
        "Audit": "Audit: what it forbids is admitted",
    }[tenancy.enforcement]
    return f"{tenancy.title} of tenant {tenancy.tenant}, enforcement {level}"


def containers(applicable: Applicable, intent: Intent) -> Iterator[tuple[str, str]]:
    """Yield the name of each container and why it is equipped or not."""
    equipped = {one.place: one for one in intent.equipped}
    for one in applicable.subject.containers:
        chosen, name = equipped.get(one.place), cleaned(one.name, LONGEST_NAME)
        if chosen is None:
            yield name, f"not equipped: {_why_not(one, applicable)}"
        elif chosen.has_devices:
            yield name, f"equipped: {_why(one, applicable)}"
        else:
            yield name, "memory and environment only: another container asks for the devices"


def _why(one: Container, applicable: Applicable) -> str:
    pools = frozenset(lane.resource for order in applicable.orders for lane in order.offer.lanes)
    if applicable.wish.containers:
        return "rdma.io/containers names it"
    if one.asks(pools):
        return "it asks for the network's resource itself"
    if one.accelerators:
        return "it asks for an accelerator"
    return "the first app container that is no known proxy"


def _why_not(one: Container, applicable: Applicable) -> str:
    pools = frozenset(lane.resource for order in applicable.orders for lane in order.offer.lanes)
    if not one.runs_along:
        return "init containers end before the pod's work begins"
    if one.excludes(pools):
        return "it sets the network's resource to 0 itself"
    if applicable.wish.containers:
        return "rdma.io/containers does not name it"
    if one.is_proxy:
        return "a known proxy"
    return "another container comes first"


def _network(order: Order, intent: Intent) -> NetworkTrail:
    offer = order.offer
    kind = offer.spec.partition.type if offer.spec.partition else None
    number = shown(kind, offer.number) if kind and offer.number is not None else ""
    resources = {lane.rail: lane.resource for lane in offer.lanes}
    attached = [
        {
            "rail": one.rail,
            "interface": one.interface,
            "attachment": f"{one.namespace}/{one.name}",
            "resource": resources.get(one.rail, ""),
        }
        for one in intent.attachments
        if one.network == offer.network
    ]
    devices = [{"rail": lane.rail, "resource": lane.resource} for lane in offer.lanes]
    return NetworkTrail(
        name=offer.network,
        mode=offer.spec.mode.value,
        fabric=offer.spec.fabric or offer.network,
        partition=offer.partition,
        number=number,
        isolation=offer.isolation.value,
        rails=tuple(attached or devices),
    )


def as_json(found: NetworkTrail) -> dict[str, Any]:
    """Return a network for machines."""
    return {
        "name": found.name,
        "mode": found.mode,
        "fabric": found.fabric,
        "partition": found.partition or None,
        "number": found.number or None,
        "isolation": found.isolation,
        "rails": list(found.rails),
    }
