"""How many attachments or tokens a network gives, and over which rails they are dealt."""

from itertools import count as numbers

from policies.accept import ONE_PER_RAIL_MODES
from policies.intent import Attachment
from policies.names import ANNOTATION_NETWORK
from policies.offers import Lane, Offer
from policies.refusal import Reason, Refusal
from policies.select import Order
from policies.subject import Container, Selected, Subject
from policies.wish import MAX_COUNT, over_count, where


def amount(order: Order, containers: tuple[Container, ...]) -> int | Refusal:
    """Return how many attachments or tokens one network gives.

    Args:
        order: The network and the COUNT that was written.
        containers: Those that share the attachments, or the one that gets the tokens.
    """
    offer, wanted = order.offer, order.count
    if wanted is None:
        default = _default_amount(offer, containers)
        if isinstance(default, Refusal):
            return default
        wanted = default
    if wanted > MAX_COUNT:
        return over_count(offer.network, wanted)
    if offer.spec.mode in ONE_PER_RAIL_MODES and wanted > len(offer.lanes):
        return Refusal(
            Reason.COUNT_OUT_OF_RANGE,
            f"{where(ANNOTATION_NETWORK)}: asks for {offer.network} {wanted} times, but mode "
            f"{offer.spec.mode} gives one attachment a rail and the network has "
            f"{len(offer.lanes)}; the pod's author can lower the count",
        )
    return wanted


def _default_amount(offer: Offer, containers: tuple[Container, ...]) -> int | Refusal:
    spec = offer.spec
    if spec.per_accelerator is None:
        return spec.count if isinstance(spec.count, int) else len(offer.lanes)
    accelerators = sum(one.accelerators for one in containers)
    if accelerators:
        return accelerators * spec.per_accelerator
    return Refusal(
        Reason.ACCELERATOR_MISSING,
        f"{where(ANNOTATION_NETWORK)}: network {offer.network} gives {spec.per_accelerator} for "
        f"each accelerator, and container {containers[0].name} asks for none; the pod's "
        f"author can write {offer.network}:COUNT or request an accelerator",
    )


def dealt(lanes: tuple[Lane, ...], number: int) -> list[Lane]:
    """Return the lanes of some attachments: in the order of the rails, round and round."""
    return [lanes[index % len(lanes)] for index in range(number)]


class Selections:
    """The pod's network selections while they are being matched and named."""

    def __init__(self, subject: Subject) -> None:
        """Start from what the pod's author selected."""
        self._unmatched: dict[tuple[str, str], list[Selected]] = {}
        self._primary = [one for one in subject.selections if one.is_default]
        for one in subject.selections:
            if not one.is_default:
                self._unmatched.setdefault((one.namespace, one.name), []).append(one)
        used = {one.interface for one in subject.selections}
        self._free = (name for n in numbers() if (name := f"rdma{n}") not in used)

    def attach(self, network: str, lane: Lane) -> Attachment:
        """Return the attachment of one lane: the author's own element of that NAD, else new."""
        own = self._unmatched.get((lane.namespace, lane.name))
        is_own = bool(own)
        interface = own.pop(0).interface if own else next(self._free)
        return Attachment(network, lane.rail, lane.namespace, lane.name, interface, selected=is_own)

    def unmatched(self) -> tuple[Selected, ...]:
        """Return the author's elements that no attachment took."""
        left = (one for several in self._unmatched.values() for one in several)
        return (*left, *self._primary)
