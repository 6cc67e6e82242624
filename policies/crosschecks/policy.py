"""An RDMAPolicy beside the others: numbers that its tenant cannot have, networks of no use.

A number is refused only where this request brings it, or gives it to another tenant. Networks are
only warned about, so that files can be applied in any order. The other tenant of a number is never
named: who writes a policy may be a tenant.
"""

from collections.abc import Iterator

from policies import accept, attach, names
from policies.crosschecks.numbers import is_disputed, rivals
from policies.crosschecks.write import MISSING, Write
from policies.errors import InvalidObject
from policies.index import Network
from policies.network import Mode
from policies.partition import misfit, shown
from policies.policy import RDMAPolicy
from policies.refusal import Notice, Reason, Refusal, listed
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy, compiled

_MOST_NAMES = 3
"""Of networks in one warning."""

Numbered = tuple[str, int]
"""A network and a number that a policy names on it."""


def check(write: Write, snapshot: Snapshot) -> Iterator[Refusal | Notice]:
    """Yield what is wrong with a policy that is being written.

    Raises:
        InvalidObject: This version cannot read it.
    """
    if write.name != names.POLICY_NAME:
        return
    policy = compiled(write.read(RDMAPolicy, write.object))
    kept = _kept(write, policy)
    for place, refusal in _number_refusals(policy, snapshot):
        yield Notice(refusal.short, 1) if place in kept else refusal
    yield from _network_notices(policy, snapshot)
    yield from _isolation_notices(policy, snapshot)


def _kept(write: Write, policy: Tenancy) -> frozenset[Numbered]:
    """Return the numbers that the same tenant named before this request."""
    if write.old is None:
        return frozenset()
    try:
        before = compiled(write.read(RDMAPolicy, write.old))
    except InvalidObject:
        return frozenset()
    if before.tenant != policy.tenant:
        return frozenset()
    return frozenset(
        (grant.name, number)
        for grant in before.grants
        for _, number in grant.partitions
        if number is not None
    )


def _number_refusals(policy: Tenancy, snapshot: Snapshot) -> Iterator[tuple[Numbered, Refusal]]:
    """Yield each number that pods of this tenant would be refused for, with why."""
    for grant in policy.grants:
        network = snapshot.networks.get(grant.name)
        if network is None or network.model is None:
            continue
        for name, number in grant.partitions:
            if number is None:
                continue
            path = f"spec.networks[{grant.name}].partitions[{name}].number"
            refusal = _number_refusal(policy, network, path, number, snapshot)
            if refusal is not None:
                yield (grant.name, number), refusal


def _number_refusal(
    policy: Tenancy, network: Network, path: str, number: int, snapshot: Snapshot
) -> Refusal | None:
    assert network.model  # noqa: S101 the caller has looked
    wanted = network.model.spec.partition
    wrong = misfit(network.name, wanted, number)
    if wrong is not None:
        return Refusal(
            Reason.PARTITION_NUMBER_INVALID,
            f"{policy.title}: {path}: {wrong}; who writes the policy can correct it, or the "
            "platform admin the network",
            f"spec.networks[{network.name}]: {wrong}",
        )
    assert wanted  # noqa: S101 else nothing fitted
    others = rivals(snapshot, network.fabric, wanted.type, number, policy.namespace)
    holder = snapshot.holder(network.fabric, wanted.type, number)
    if not is_disputed(holder, {*others, policy.tenant}) or holder == policy.tenant:
        return None
    taken = f"{shown(wanted.type, number)} of fabric {network.fabric} belongs to another tenant"
    return Refusal(
        Reason.PARTITION_CONFLICT,
        f"{policy.title}: {path}: {taken}; who writes the policy can take another number "
        "(kubectl get rdmapartitions shows holders to those who may read them)",
        f"spec.networks[{network.name}]: {taken} too",
    )


def _network_notices(policy: Tenancy, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield networks that pods of this tenant cannot use as things stand."""
    unknown = [grant.name for grant in policy.grants if grant.name not in snapshot.networks]
    if unknown:
        yield Notice(
            f"spec.networks: there is no RDMANetwork {listed(unknown, _MOST_NAMES)} yet; pods "
            "that ask for it are refused",
            MISSING,
        )
    for grant in policy.grants:
        network = snapshot.networks.get(grant.name)
        if network is not None:
            yield from _useless(policy, network)


def _useless(policy: Tenancy, network: Network) -> Iterator[Notice]:
    path = f"spec.networks[{network.name}]"
    mode = network.model.spec.mode if network.model else None
    if mode is not None and mode not in accept.IMPLEMENTED:
        yield Notice(f"{path}: mode {mode} is not supported by this version", 4)
    elif network.problem:
        yield Notice(f"{path}: not Accepted: {network.problem}", 4)
    elif mode is Mode.HOST_NETWORK and not policy.limits.host_network:
        yield Notice(f"{path}: a HostNetwork network needs spec.podLimits.hostNetwork: true", 3)


def _isolation_notices(policy: Tenancy, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield networks that keep tenants apart less than the policy wants, whatever their NADs."""
    for grant in policy.grants:
        network = snapshot.networks.get(grant.name)
        if network is None or network.model is None:
            continue
        most = attach.isolation(network.model.spec, ())
        if most.strength < policy.minimum_isolation.strength:
            yield Notice(
                f"spec.minimumIsolation: is {policy.minimum_isolation}, but network "
                f"{network.name} gives {most} at most",
                5,
            )
