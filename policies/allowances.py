"""What the policy lets one pod have: counts, isolation, shared memory, capabilities.

A pod that oversteps its own rights is refused where the policy enforces, and warned elsewhere.
"""

import msgspec

from policies import podsecurity
from policies.defaults import DEFAULT_CAPABILITIES, DEFAULT_SHARED_MEMORY, Defaults
from policies.names import ANNOTATION_NETWORK, ANNOTATION_SHM_SIZE
from policies.network import Mode
from policies.quantity import parse
from policies.refusal import Notice, Reason, Refusal, listed
from policies.select import Applicable
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy
from policies.wish import where


class Allowance(msgspec.Struct, frozen=True):
    """What one pod gets of what its networks would give."""

    add: tuple[str, ...]
    shared_memory: str
    notices: tuple[Notice, ...]


def soften(tenancy: Tenancy, refusal: Refusal) -> Refusal | Notice:
    """Return a refusal about a pod's own rights, or what remains of it below Enforce."""
    if tenancy.enforces:
        return refusal
    return Notice(
        f"{refusal.reason} (not enforced): {refusal.short or refusal.message}",
        rank=1,
        not_enforced=refusal.reason.value,
        is_silent=tenancy.enforcement == "Audit",
    )


def check(
    applicable: Applicable, merged: Defaults, totals: dict[str, int], snapshot: Snapshot
) -> Allowance | Refusal:
    """Return what the pod may have, or why it is refused.

    Args:
        applicable: The pod, its policy and its networks.
        merged: Defaults of all its networks.
        totals: Attachments or tokens of each network in the whole pod.
        snapshot: For the labels of the namespace.
    """
    notices: list[Notice] = []
    overstepped = [_over_count(applicable, totals), _too_weak(applicable)]
    memory, memory_refusal = _shared_memory(applicable, merged)
    overstepped.append(memory_refusal)
    for refusal in overstepped:
        softened = soften(applicable.tenancy, refusal) if refusal else None
        if isinstance(softened, Refusal):
            return softened
        if softened:
            notices.append(softened)
    wanted = merged.add if merged.add is not None else DEFAULT_CAPABILITIES
    allowed = applicable.tenancy.limits.capabilities
    add = tuple(one for one in wanted if one in allowed)
    if len(add) < len(wanted):
        missing = listed([one for one in wanted if one not in allowed])
        notices.append(Notice(f"{missing} not added: podLimits.capabilities does not list it", 3))
    dropped = {*merged.drop, *applicable.tenancy.limits.required_drop}
    contrary = [one for one in add if one in dropped]
    if contrary:
        add = tuple(one for one in add if one not in dropped)
        notices.append(Notice(f"{listed(contrary)} not added: network or policy drops it", 3))
    secured = _pod_security(applicable, add, snapshot)
    if isinstance(secured, Refusal):
        return secured
    if secured != add:
        omitted = listed([one for one in add if one not in secured])
        notices.append(Notice(f"{omitted} not added: Pod Security forbids it in this namespace", 2))
    return Allowance(secured, memory, tuple(notices))


def _over_count(applicable: Applicable, totals: dict[str, int]) -> Refusal | None:
    for order in applicable.orders:
        most, total = order.offer.grant.max_per_pod, totals[order.offer.network]
        if most is not None and total > most:
            return Refusal(
                Reason.ATTACHMENTS_OVER_LIMIT,
                f"{where(ANNOTATION_NETWORK)}: the pod comes to {total} of network "
                f"{order.offer.network}, and maxPerPod of {applicable.tenancy.title} is {most}; "
                "the pod's author can ask for less, the platform admin can raise it",
                short=f"{total} of network {order.offer.network}, maxPerPod is {most}",
            )
    return None


def _too_weak(applicable: Applicable) -> Refusal | None:
    wanted = applicable.tenancy.minimum_isolation
    for order in applicable.orders:
        offer = order.offer
        if offer.isolation.strength < wanted.strength:
            return Refusal(
                Reason.ISOLATION_TOO_WEAK,
                f"{where(ANNOTATION_NETWORK)}: network {offer.network} (mode {offer.spec.mode}) "
                f"isolates tenants {offer.isolation}, and minimumIsolation of "
                f"{applicable.tenancy.title} is {wanted}; the pod's author can choose another "
                "network, the platform admin can lower it",
                short=f"network {offer.network} isolates {offer.isolation}, wanted is {wanted}",
            )
    return None


def _shared_memory(applicable: Applicable, merged: Defaults) -> tuple[str, Refusal | None]:
    """Return the size of /dev/shm (empty for none) and the refusal of a size above the limit."""
    limit = applicable.tenancy.limits.shared_memory
    asked = applicable.wish.shm_size
    if asked:
        if limit is not None and (parse(asked) or 0) > (parse(limit) or 0):
            return asked, Refusal(
                Reason.SHARED_MEMORY_OVER_LIMIT,
                f"{where(ANNOTATION_SHM_SIZE)}: {asked} is above podLimits.sharedMemory.max "
                f"{limit} of {applicable.tenancy.title}; the pod's author can ask for less, the "
                "platform admin can raise it",
                short=f"{ANNOTATION_SHM_SIZE} {asked} is above sharedMemory.max {limit}",
            )
        return asked, None
    size = merged.shared_memory or DEFAULT_SHARED_MEMORY
    if limit is not None and (parse(size) or 0) > (parse(limit) or 0):
        size = limit
    return (size if parse(size) else ""), None


def _pod_security(
    applicable: Applicable, add: tuple[str, ...], snapshot: Snapshot
) -> tuple[str, ...] | Refusal:
    """Return the capabilities that Pod Security lets us add, or refuse as the policy says."""
    subject, tenancy = applicable.subject, applicable.tenancy
    level = podsecurity.level(snapshot.shard(subject.namespace).labels)
    if not level:
        return add
    on_host = [o.offer.network for o in applicable.orders if o.offer.spec.mode is Mode.HOST_NETWORK]
    if on_host and not subject.host_network:
        return Refusal(
            Reason.POD_SECURITY_CONFLICT,
            f"namespace {subject.namespace} enforces Pod Security level {level}, which forbids the "
            f"host network that network {on_host[0]} uses; the platform admin can relax the level "
            "or grant another network",
        )
    forbidden = podsecurity.forbidden(level, add)
    if not forbidden:
        return add
    if tenancy.limits.omit_capabilities:
        return tuple(one for one in add if one not in forbidden)
    return Refusal(
        Reason.POD_SECURITY_CONFLICT,
        f"namespace {subject.namespace} enforces Pod Security level {level}, which forbids the "
        f"capability {listed(list(forbidden))} that RDMA needs; the platform admin can relax the "
        f"level, set podSecurityConflict: OmitCapabilities in {tenancy.title} (nodes then need an "
        "unlimited memlock), or set podDefaults.capabilities.add: []",
    )
