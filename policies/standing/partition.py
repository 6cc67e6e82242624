"""How an RDMAPartition stands: read or not, and where it is in its life."""

from policies.names import PARTITION
from policies.refusal import cleaned
from policies.snapshot import Snapshot
from policies.standing.finding import Standing, unreadable, yes
from policies.status import Phase

ACCEPTED = "Accepted"


def stand(snapshot: Snapshot, name: str) -> Standing:
    """Return how a partition stands; one that exists holds its number, so it is Bound."""
    problem = cleaned(snapshot.faults.get((PARTITION, "", name), ""))
    is_known = name in snapshot.partitions
    if problem:
        finding = unreadable(ACCEPTED, problem, is_kept=is_known)
    else:
        finding = yes(ACCEPTED, "Held", "The number is held for the tenant.")
    return Standing((finding,), {"phase": Phase.BOUND.value} if is_known else {})
