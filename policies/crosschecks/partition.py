"""An RDMAPartition beside the policies: a reservation settles a conflict, so it is only told.

Its author is the platform admin, who may read who is who.
"""

from collections.abc import Iterator

from policies.crosschecks.numbers import namers, namespaces
from policies.crosschecks.write import MISSING, Write
from policies.partition import PartitionSpec, RDMAPartition, misfit, shown
from policies.refusal import Notice, listed
from policies.snapshot import Snapshot

_MOST_NAMES = 3
"""Of namespaces in one warning."""


def check(write: Write, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield what who reserves a number should know.

    Raises:
        InvalidObject: This version cannot read it.
    """
    claim = write.read(RDMAPartition, write.object).spec
    others = [
        namespace
        for namespace, tenant in namers(snapshot, claim.fabric, claim.type, claim.number)
        if tenant != claim.tenant
    ]
    if others:
        yield Notice(
            f"spec.tenant: policies of other tenants name {_shown(claim)}: "
            f"{listed(others, _MOST_NAMES)}; their pods are refused",
            1,
        )
    yield from _fit(claim, snapshot)
    yield from _double(claim, snapshot)


def check_deletion(write: Write, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield the policies that lose a reservation.

    Raises:
        InvalidObject: This version cannot read it.
    """
    claim = write.read(RDMAPartition, write.old).spec
    own = [
        namer
        for namer in namers(snapshot, claim.fabric, claim.type, claim.number)
        if namer[1] == claim.tenant
    ]
    if own:
        yield Notice(
            f"{_shown(claim)} is still named by policies of its tenant: "
            f"{listed(namespaces(own), _MOST_NAMES)}; it is reserved no more",
            1,
        )


def _fit(claim: PartitionSpec, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield that no network gives the number out."""
    found = [one for one in snapshot.networks.values() if one.carries(claim.fabric, claim.type)]
    if not found:
        yield Notice(
            f"spec.fabric: no RDMANetwork of {claim.fabric} carries a {claim.type} yet", MISSING
        )
    elif all(
        misfit(one.name, one.model.spec.partition if one.model else None, claim.number)
        for one in found
    ):
        yield Notice(f"spec.number: {_shown(claim)} is outside the range of all its networks", 3)


def _double(claim: PartitionSpec, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield that the tenant has another number of this name."""
    name = (claim.fabric, claim.type, claim.tenant, claim.partition)
    for known in snapshot.partitions.values():
        spec = known.spec
        same = (spec.fabric, spec.type, spec.tenant, spec.partition) == name
        if same and spec.number != claim.number:
            yield Notice(
                f"spec.partition: the tenant holds {shown(spec.type, spec.number)} as "
                f"{spec.partition} already; one name has one number",
                4,
            )
            return


def _shown(claim: PartitionSpec) -> str:
    return f"{shown(claim.type, claim.number)} of fabric {claim.fabric}"
