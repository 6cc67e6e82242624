"""Devices of a fabric that the pod asks for by resource name, past the annotation."""

from collections.abc import Iterator

from policies.allowances import soften
from policies.refusal import Notice, Reason, Refusal
from policies.subject import Container
from webhook.isolation.case import Case


def check(case: Case) -> Iterator[Refusal | Notice]:
    """Yield resources of networks that are not granted, or granted and not asked for."""
    selected = {lane.resource for order in case.applicable.orders for lane in order.offer.lanes}
    governance = case.snapshot.governance
    for one in case.subject.containers:
        for name, number in one.resources:
            if number and name not in selected and governance.owners_of(name):
                yield _by_hand(case, one, name)


def _by_hand(case: Case, container: Container, resource: str) -> Refusal | Notice:
    owners = case.snapshot.governance.owners_of(resource)
    granted = [network for network in owners if case.tenancy.grant(network)]
    if granted:
        text = f"container {container.name} asks for {resource} by hand; rdma.io/network can name "
        return Notice(text + granted[0], 4)
    return soften(
        case.tenancy,
        Refusal(
            Reason.RESOURCE_DENIED,
            f"spec.{container.place[0]}[{container.name}].resources: {resource} is a device of an "
            f"RDMA network that {case.tenancy.title} does not grant; the pod's author can remove "
            "it, the platform admin can grant the network",
            short=f"container {container.name} asks for {resource}, of a network not granted",
        ),
    )
