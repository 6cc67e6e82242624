"""Network selections that the pod's author wrote: which fabric do they really reach?

A selection of a NAD that the annotation asks for as well is that attachment, one for one. Others
that reach a governed NAD need the policy; a NAD that leads onto no fabric is none of our business.
"""

from collections import Counter
from collections.abc import Iterator

from policies.allowances import soften
from policies.names import (
    DEFAULT_SELECTION_ANNOTATION,
    NAD,
    SELECTION_ANNOTATION,
)
from policies.offers import Offer, offer
from policies.refusal import Notice, Pending, Reason, Refusal, listed, quoted
from policies.subject import Selected
from policies.wish import where
from webhook.isolation.case import Case


def check(case: Case) -> Iterator[Refusal | Pending | Notice]:
    """Yield what the pod's own selections may not do."""
    if not case.subject.selections:
        return
    asked_for = Counter((one.namespace, one.name) for one in case.intent.attachments)
    by_hand: list[Selected] = []
    for one in case.subject.selections:
        if asked_for[one.namespace, one.name] and not one.is_default:
            asked_for[one.namespace, one.name] -= 1
            yield from _extra_keys(one)
        else:
            by_hand.append(one)
    granted: dict[tuple[str, str], str] = {}
    for one in by_hand:
        nad = case.snapshot.nad(one.namespace, one.name)
        if "deviceID" in one.extra_keys:
            yield _key_denied(one, "deviceID")
        elif nad is None:
            yield _not_there(case, one)
        elif case.snapshot.governance.governs(nad):
            granted = granted or _granted(case)
            yield from _governed(case, one, granted.get((one.namespace, one.name)))
    yield from _over_limit(case, by_hand, granted)


def _place(one: Selected) -> str:
    return where(DEFAULT_SELECTION_ANNOTATION if one.is_default else SELECTION_ANNOTATION)


def _extra_keys(one: Selected) -> Iterator[Refusal]:
    """Yield keys beyond name, namespace and interface on a governed element.

    No CNI takes a VLAN from a pod, and addresses or marks of the fabric's own daemon are not the
    author's to choose.
    """
    if one.extra_keys:
        yield _key_denied(one, one.extra_keys[0])


def _key_denied(one: Selected, key: str) -> Refusal:
    return Refusal(
        Reason.SELECTION_KEY_DENIED,
        f"{_place(one)}: {quoted(f'{one.namespace}/{one.name}')} carries the key {quoted(key)}, "
        "but partition, device and address of an RDMA network come from its "
        "NetworkAttachmentDefinition alone; the pod's author can remove the key",
    )


def _not_there(case: Case, one: Selected) -> Refusal | Pending:
    """Return a refusal of a NAD that is not known, after a moment's wait for one's own.

    Of another namespace nothing is told, not even that there is no such NAD.
    """
    if not one.namespace:
        return Refusal(
            Reason.FOREIGN_NETWORK_DENIED,
            f"{_place(one)}: {quoted(one.name)} names no namespace, so the network behind it "
            "cannot be checked; the pod's author can write namespace/name or remove it",
        )
    if one.namespace != case.subject.namespace:
        return _foreign(case, one)
    return Pending(
        NAD,
        one.namespace,
        one.name,
        Refusal(
            Reason.SELECTION_NOT_FOUND,
            f"{_place(one)}: there is no NetworkAttachmentDefinition {one.namespace}/{one.name}, "
            "so Multus would fail the pod; its author can correct the name",
        ),
    )


def _foreign(case: Case, one: Selected) -> Refusal:
    return Refusal(
        Reason.FOREIGN_NETWORK_DENIED,
        f"{_place(one)}: {quoted(f'{one.namespace}/{one.name}')} is no network that "
        f"{case.tenancy.title} grants (granted: "
        f"{listed([grant.name for grant in case.tenancy.grants])}); the pod's author can remove it",
    )


def _granted(case: Case) -> dict[tuple[str, str], str]:
    """Return every NAD that the policy grants, with its network."""
    found: dict[tuple[str, str], str] = {}
    for grant in case.tenancy.grants:
        for partition in [name for name, _ in grant.partitions] or [""]:
            outcome = offer(case.snapshot, case.tenancy, grant, partition)
            if isinstance(outcome, Offer):
                found |= {(lane.namespace, lane.name): grant.name for lane in outcome.lanes}
    return found


def _governed(case: Case, one: Selected, network: str | None) -> Iterator[Refusal | Notice]:
    title = quoted(f"{one.namespace}/{one.name}")
    if network is None and one.namespace != case.subject.namespace:
        yield _foreign(case, one)
        return
    if network is None:
        yield Refusal(
            Reason.RAW_NETWORK_DENIED,
            f"{_place(one)}: {title} leads onto an RDMA fabric that {case.tenancy.title} does not "
            f"grant (granted: {listed([grant.name for grant in case.tenancy.grants])}); the pod's "
            "author can remove it",
        )
        return
    yield from _extra_keys(one)
    if not case.tenancy.allows_raw_networks:
        refusal = Refusal(
            Reason.RAW_NETWORK_DENIED,
            f"{_place(one)}: {title} belongs to network {network} and is selected by hand; the "
            f"pod's author can ask for {network} in rdma.io/network, the platform admin can set "
            f"rawNetworks: Allow in {case.tenancy.title}",
            short=f"{title} of network {network} is selected by hand",
        )
        yield soften(case.tenancy, refusal)


def _over_limit(
    case: Case, by_hand: list[Selected], granted: dict[tuple[str, str], str]
) -> Iterator[Refusal | Notice]:
    """Count what was selected by hand too against maxPerPod."""
    for grant in case.tenancy.grants if granted else ():
        hand = sum(granted.get((one.namespace, one.name)) == grant.name for one in by_hand)
        asked = sum(one.network == grant.name for one in case.intent.attachments)
        if hand and grant.max_per_pod is not None and hand + asked > grant.max_per_pod:
            refusal = Refusal(
                Reason.ATTACHMENTS_OVER_LIMIT,
                f"{where(SELECTION_ANNOTATION)}: with {hand} selected by hand the pod comes to "
                f"{hand + asked} of network {grant.name}, and maxPerPod of {case.tenancy.title} is "
                f"{grant.max_per_pod}; the pod's author can remove some",
                short=f"{hand + asked} of network {grant.name}, maxPerPod is {grant.max_per_pod}",
            )
            yield soften(case.tenancy, refusal)
