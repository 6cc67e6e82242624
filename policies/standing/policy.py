"""How an RDMAPolicy stands: whether pods can use all that it grants, and if not, why.

The same offers that pods get are looked at, so the condition and a pod's refusal say the same.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from policies.names import POLICY
from policies.offers import Offer, offer
from policies.refusal import Pending, Reason, Refusal, cleaned, listed
from policies.snapshot import Snapshot
from policies.standing.finding import Finding, Standing, no, unknown, unreadable, yes
from policies.tenancy import Tenancy

READY = "Ready"
CONFLICT = "PartitionConflict"
UNKNOWN_NETWORK = "UnknownNetwork"
OUTDATED = "Outdated"
_FIRST = (UNKNOWN_NETWORK, CONFLICT)
"""Causes that are said before others: nothing else can be right while they last."""


class _Trouble(msgspec.Struct, frozen=True):
    """Why one partition of one network cannot be used."""

    network: str
    cause: str
    message: str


def stand(snapshot: Snapshot, namespace: str, outdated: tuple[str, ...] | None) -> Standing:
    """Return how the policy of a namespace stands.

    Args:
        snapshot: What is known; the namespace has a policy, readable or not.
        namespace: Of the policy.
        outdated: Names of running pods that would be treated in another way now; None where they
            were not counted.
    """
    shard = snapshot.shard(namespace)
    if shard.tenancy is None:
        return Standing((unreadable(READY, cleaned(shard.policy_problem), is_kept=False),))
    troubles = sorted(_troubles(snapshot, shard.tenancy), key=_rank)
    if shard.policy_problem:
        ready = unreadable(READY, cleaned(shard.policy_problem), is_kept=True)
    else:
        ready = _ready(shard.tenancy, troubles)
    findings = (ready, _conflict(troubles), _unknown(troubles), _outdated(outdated))
    return Standing(findings, {"counts": _counts(snapshot, shard.tenancy, outdated)})


def _troubles(snapshot: Snapshot, tenancy: Tenancy) -> Iterator[_Trouble]:
    """Yield what is wrong with each partition of each granted network."""
    for grant in tenancy.grants:
        for partition, _ in grant.partitions or (("", None),):
            found = offer(snapshot, tenancy, grant, partition)
            refusal = _weak(tenancy, found) if isinstance(found, Offer) else found
            if isinstance(refusal, Pending):
                refusal = refusal.refusal
            if refusal is not None:
                cause = refusal.cause or refusal.reason.value
                yield _Trouble(grant.name, cause, refusal.message)


def _weak(tenancy: Tenancy, found: Offer) -> Refusal | None:
    wanted = tenancy.minimum_isolation
    if found.isolation.strength >= wanted.strength:
        return None
    return Refusal(
        Reason.ISOLATION_TOO_WEAK,
        f"{tenancy.title}: spec.networks[{found.network}]: isolates tenants {found.isolation}, and "
        f"minimumIsolation is {wanted}; the platform admin can change one of the two",
    )


def _rank(trouble: _Trouble) -> int:
    return _FIRST.index(trouble.cause) if trouble.cause in _FIRST else len(_FIRST)


def _ready(tenancy: Tenancy, troubles: list[_Trouble]) -> Finding:
    if not troubles:
        if not tenancy.grants:
            return yes(READY, "NothingGranted", "The policy grants no network.")
        return yes(READY, READY, "Pods can use every granted network.")
    first = troubles[0]
    more = len({trouble.network for trouble in troubles} - {first.network})
    tail = f" ({more} more of its networks cannot be used)" if more else ""
    return no(READY, first.cause, cleaned(first.message) + tail)


def _conflict(troubles: list[_Trouble]) -> Finding:
    found = next((one for one in troubles if one.cause == Reason.PARTITION_CONFLICT), None)
    if found is None:
        return no(CONFLICT, "NoConflict", "No number of this policy is another tenant's.")
    return yes(CONFLICT, "NumberTaken", cleaned(found.message))


def _unknown(troubles: list[_Trouble]) -> Finding:
    names = list(dict.fromkeys(one.network for one in troubles if one.cause == UNKNOWN_NETWORK))
    if not names:
        return no(UNKNOWN_NETWORK, "AllKnown", "Every granted network exists.")
    text = f"there is no RDMANetwork {listed(names)}; the platform admin can create it"
    return yes(UNKNOWN_NETWORK, "NetworkMissing", text)


def _outdated(names: tuple[str, ...] | None) -> Finding:
    if names is None:
        return unknown(OUTDATED, "NotCounted", "The running pods were not looked at yet.")
    if not names:
        return no(OUTDATED, "NoneOutdated", "No running pod would be treated in another way now.")
    text = (
        f"{len(names)} running pods keep what they were admitted with and would be treated in "
        f"another way now: {listed(names)}; their authors can start them anew"
    )
    return yes(OUTDATED, "PodsKeepOldRights", text)


def _counts(
    snapshot: Snapshot, tenancy: Tenancy, outdated: tuple[str, ...] | None
) -> dict[str, int]:
    def held() -> Counter[str]:
        return Counter(one.spec.tenant for one in snapshot.partitions.values())

    counts = {
        "networks": sum(grant.name in snapshot.networks for grant in tenancy.grants),
        "partitions": snapshot.notes.once(__name__, "partitions", held)[tenancy.tenant],
    }
    return counts if outdated is None else {**counts, "outdatedPods": len(outdated)}


def stray(snapshot: Snapshot, namespace: str, name: str) -> Standing:
    """Return how a policy of another name than the one that counts stands."""
    problem = snapshot.faults.get((POLICY, namespace, name), "")
    return Standing((no(READY, "NameInvalid", cleaned(problem)),))


def left_behind(names: tuple[str, ...]) -> str:
    """Return what is said of running pods whose policy is gone."""
    return (
        f"the policy is gone; {len(names)} running pods keep what they were admitted with: "
        f"{listed(names)}"
    )
