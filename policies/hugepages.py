"""Huge pages that Kubernetes would refuse beside what the container asks for."""

from policies.intent import Equipped
from policies.refusal import Reason, Refusal
from policies.subject import Subject


def conflict(
    subject: Subject, equipped: tuple[Equipped, ...], wanted: tuple[tuple[str, str], ...]
) -> Refusal | None:
    """Return why the networks' huge pages cannot be added, or None.

    Source: kubernetes ``pkg/apis/core/validation`` ("HugePages require cpu or memory").
    """
    places = {one.place for one in equipped if one.has_devices} if wanted else set()
    for one in subject.containers:
        if one.place in places and not one.asks_memory:
            return Refusal(
                Reason.HUGEPAGES_CONFLICT,
                f"spec.{one.place[0]}[{one.name}].resources: asks for neither cpu nor memory, "
                f"which {wanted[0][0]} of its networks needs; the pod's author can request memory",
            )
    return None
