"""Whether a tenant's VLAN or PKey on a network can be used: set, in range, and nobody else's."""

from policies.index import Network
from policies.partition import misfit, shown
from policies.refusal import Reason, Refusal
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy


def refusal(
    snapshot: Snapshot, tenancy: Tenancy, network: Network, partition: str, number: int | None
) -> Refusal | None:
    """Return why the tenant's number cannot be used, or None."""
    wanted = network.model.spec.partition if network.model else None
    path = f"{tenancy.title}: spec.networks[{network.name}].partitions"
    if number is None:
        if wanted is None:
            return None
        cause = "NumberMissing"
        problem = f"[{partition or 'main'}].number: no {wanted.type} is set or allocated yet"
    else:
        cause, bad = "NumberUnusable", misfit(network.name, wanted, number)
        if bad is None:
            return _claim_refusal(snapshot, tenancy, network, path, number)
        problem = f"[{partition}].number: {bad}"
    return Refusal(
        Reason.POLICY_NOT_READY,
        f"{path}{problem}; the platform admin can correct the policy",
        cause=cause,
    )


def _claim_refusal(
    snapshot: Snapshot, tenancy: Tenancy, network: Network, path: str, number: int
) -> Refusal | None:
    """Return a refusal where another tenant holds or names the number on this fabric.

    The other tenant is never named: its pods' authors read this message.
    """
    assert network.model and network.model.spec.partition  # noqa: S101, PT018 the caller has looked
    kind = network.model.spec.partition.type
    holder = snapshot.holder(network.fabric, kind, number)
    claimants = snapshot.claimants(network.fabric, kind, number)
    if holder == tenancy.tenant or (holder is None and claimants <= {tenancy.tenant}):
        return None
    return Refusal(
        Reason.PARTITION_CONFLICT,
        f"{path}: {shown(kind, number)} of fabric {network.fabric} belongs to another tenant too; "
        "the platform admin can give this policy another number",
    )
