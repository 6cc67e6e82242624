"""What a network is worth to one tenant: its NADs found and verified, its number, its defaults.

An offer depends on the snapshot alone, so it is computed once for each (namespace, network,
partition) and remembered until the snapshot changes.
"""

from hashlib import sha256

import msgspec

from policies import accept, attach
from policies.defaults import Defaults, over, read
from policies.governance import interface_of
from policies.index import Network
from policies.nad import Nad
from policies.names import NAD, NETWORK
from policies.network import Mode, NetworkSpec, Rail
from policies.partition import misfit, shown, suffix
from policies.refusal import Pending, Reason, Refusal
from policies.shapes import Isolation, PartitionType
from policies.snapshot import Snapshot
from policies.tenancy import Grant, Tenancy

_LONGEST_NAME = 63


class Lane(msgspec.Struct, frozen=True, gc=False):
    """One rail as this tenant may use it."""

    rail: str
    namespace: str
    """Namespace of its NetworkAttachmentDefinition; empty in modes without one."""
    name: str
    resource: str


class Offer(msgspec.Struct, frozen=True):
    """A network that a tenant's pods can use right now."""

    network: str
    spec: NetworkSpec
    grant: Grant
    partition: str
    """The policy's name of the partition; empty where the network carries none."""
    number: int | None
    lanes: tuple[Lane, ...]
    isolation: Isolation
    defaults: Defaults
    uses_host_local: str = ""
    """A NAD whose addresses are handed out node by node (``host-local``), or empty."""
    declares_only: str = ""
    """A NAD whose PKey nobody sets, for ib-kubernetes is not enabled in it, or empty."""


Outcome = Offer | Refusal | Pending


def offer(snapshot: Snapshot, tenancy: Tenancy, grant: Grant, partition: str) -> Outcome:
    """Return what a granted network is worth to a tenant.

    Args:
        snapshot: What is known.
        tenancy: The policy of the pod's namespace.
        grant: The policy's entry for the network.
        partition: Name of the chosen partition; empty where the entry lists none.
    """
    key = (tenancy.namespace, grant.name, partition)
    page = snapshot.notes.page(__name__)
    found: Outcome | None = page.get(key)
    if found is None:
        found = page[key] = _computed(snapshot, tenancy, grant, partition)
    return found


def nad_name(network: str, rail: str, kind: PartitionType | None, number: int | None) -> str:
    """Return the name of the NAD rendered for one network, rail and partition.

    At most 63 characters: longer ones carry a hash in the middle.
    """
    name = f"rdma-{network}-{rail}-{suffix(kind, number)}"
    if len(name) <= _LONGEST_NAME:
        return name
    tail = f"-{_hash(f'{network}/{rail}')}-{suffix(kind, number)}"
    return name[: _LONGEST_NAME - len(tail)].rstrip("-") + tail


def _hash(text: str) -> str:
    """Return 10 hexadecimal digits that differ for different texts (SHA-256)."""
    return sha256(text.encode()).hexdigest()[:10]


def _computed(snapshot: Snapshot, tenancy: Tenancy, grant: Grant, partition: str) -> Outcome:
    network = snapshot.networks.get(grant.name)
    if network is None:
        return Pending(NETWORK, "", grant.name, _missing_network(tenancy, grant))
    refusal = _unusable(tenancy, network)
    if refusal is not None:
        return refusal
    assert network.model  # noqa: S101 else it were unusable
    spec = network.model.spec
    number = dict(grant.partitions).get(partition)
    refusal = _number_refusal(snapshot, tenancy, network, partition, number)
    if refusal is not None:
        return refusal
    nads: list[Nad] = []
    if spec.mode in accept.MULTUS_MODES:
        found = _nads(snapshot, tenancy, network, number)
        if not isinstance(found, list):
            return found
        nads = found
    return Offer(
        network=network.name,
        spec=spec,
        grant=grant,
        partition=partition if spec.partition else "",
        number=number,
        lanes=_lanes(spec, nads),
        isolation=attach.isolation(spec, tuple(nads)),
        defaults=over(tenancy.defaults, read(spec.pod_defaults)),
        declares_only=next((nad.key for nad in nads if _declares_only(spec, nad)), ""),
        uses_host_local=next((nad.key for nad in nads if nad.ipam == "host-local"), ""),
    )


def _declares_only(spec: NetworkSpec, nad: Nad) -> bool:
    """Whether a PKey stands in the NAD alone.

    Source: ib-sriov-cni ``pkg/types`` declares ``pkey`` and does not use it; ib-kubernetes does.
    """
    return (
        spec.mode is Mode.SRIOV_INFINIBAND
        and spec.partition is not None
        and not nad.flags & Nad.IB_KUBERNETES
    )


def _missing_network(tenancy: Tenancy, grant: Grant) -> Refusal:
    return Refusal(
        Reason.POLICY_NOT_READY,
        f"{tenancy.title}: spec.networks[{grant.name}]: there is no RDMANetwork of that name; the "
        "platform admin can create it or remove the entry",
    )


def _unusable(tenancy: Tenancy, network: Network) -> Refusal | None:
    """Return why a network cannot be used by anybody, or not by this policy."""
    mode = network.model.spec.mode if network.model else None
    if mode is not None and mode not in accept.IMPLEMENTED:
        return Refusal(
            Reason.MODE_NOT_SUPPORTED,
            f"RDMANetwork {network.name}: spec.mode: {mode} is not supported by this version "
            f"(supported: {', '.join(m.value for m in Mode if m in accept.IMPLEMENTED)}); the "
            "platform admin can offer another network",
        )
    if network.problem or mode is None:
        return Refusal(
            Reason.NETWORK_NOT_READY,
            f"{network.problem}; the platform admin can correct the RDMANetwork",
        )
    if mode is Mode.HOST_NETWORK and not tenancy.limits.host_network:
        return Refusal(
            Reason.POLICY_NOT_READY,
            f"{tenancy.title}: spec.networks[{network.name}]: a HostNetwork network needs "
            "spec.podLimits.hostNetwork: true; the platform admin can set it",
        )
    return None


def _number_refusal(
    snapshot: Snapshot, tenancy: Tenancy, network: Network, partition: str, number: int | None
) -> Refusal | None:
    """Return why the tenant's number cannot be used, or None."""
    wanted = network.model.spec.partition if network.model else None
    path = f"{tenancy.title}: spec.networks[{network.name}].partitions"
    if number is None:
        if wanted is None:
            return None
        problem = f"[{partition or 'main'}].number: no {wanted.type} is set or allocated yet"
    else:
        bad = misfit(network.name, wanted, number)
        if bad is None:
            return _claim_refusal(snapshot, tenancy, network, path, number)
        problem = f"[{partition}].number: {bad}"
    return Refusal(
        Reason.POLICY_NOT_READY, f"{path}{problem}; the platform admin can correct the policy"
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


def _nads(
    snapshot: Snapshot, tenancy: Tenancy, network: Network, number: int | None
) -> list[Nad] | Refusal | Pending:
    """Return the verified NADs of a network, in the order of its rails."""
    assert network.model  # noqa: S101 the caller has looked
    spec = network.model.spec
    places = [_place(tenancy.namespace, network.name, spec, rail, number) for rail in spec.rails]
    found = [snapshot.nad(*place) for place in places]
    nads = [nad for nad in found if nad is not None]
    if len(nads) < len(places):
        namespace, name = places[found.index(None)]
        return Pending(
            NAD,
            namespace,
            name,
            Refusal(
                Reason.POLICY_NOT_READY,
                f"{tenancy.title}: spec.networks[{network.name}]: {len(nads)} of {len(places)} "
                f"NetworkAttachmentDefinitions are there, {namespace}/{name} is not; try again, or "
                "ask the platform admin to create it",
            ),
        )
    for rail, nad in zip(spec.rails, nads, strict=True):
        wrong = attach.difference(spec, rail, nad, number) or _stray(snapshot, network, rail, nad)
        if wrong:
            return Refusal(
                Reason.ATTACHMENT_INVALID,
                f"NetworkAttachmentDefinition {nad.key}: {wrong} (network {network.name}, rail "
                f"{rail.name}); the platform admin can correct it",
            )
    return nads


def _stray(snapshot: Snapshot, network: Network, rail: Rail, nad: Nad) -> str | None:
    """Return what a NAD takes that is not this network's to give.

    What the rail leaves open the NAD decides, and its author may be a tenant.
    """
    pool = rail.resource_name or nad.resource_name
    if pool and not snapshot.rules.is_governed(pool):
        return f"resource {pool} is outside governedResources or is an accelerator"
    if rail.network_attachment is None or rail.network_attachment.namespace:
        return None
    governance = snapshot.governance
    if rail.resource_name is None and _is_foreign(governance.resources.get(pool), network):
        return f"resource {pool} belongs to another network (a rail's resourceName can share it)"
    if rail.master is None and any(
        _is_foreign(governance.interfaces.get(interface_of(master)), network)
        for master in nad.masters
    ):
        return f"master {nad.masters[0]} belongs to another network (a rail's master can share it)"
    return None


def _is_foreign(owners: tuple[str, ...] | None, network: Network) -> bool:
    return bool(owners) and network.name not in (owners or ())


def _place(
    namespace: str, network: str, spec: NetworkSpec, rail: Rail, number: int | None
) -> tuple[str, str]:
    """Return namespace and name of the NAD that stands for one rail."""
    if rail.network_attachment:
        return rail.network_attachment.namespace or namespace, rail.network_attachment.name
    kind = spec.partition.type if spec.partition else None
    return namespace, nad_name(network, rail.name, kind, number)


def _lanes(spec: NetworkSpec, nads: list[Nad]) -> tuple[Lane, ...]:
    if not nads:
        return tuple(Lane(rail.name, "", "", rail.resource_name or "") for rail in spec.rails)
    return tuple(
        Lane(rail.name, nad.namespace, nad.name, rail.resource_name or nad.resource_name)
        for rail, nad in zip(spec.rails, nads, strict=True)
    )
