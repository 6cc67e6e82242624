"""What a network is worth to one tenant: its NADs found and verified, its number, its defaults.

An offer depends on the snapshot alone, so it is computed once for each (namespace, network,
partition) and remembered until the snapshot changes.
"""

import msgspec

from policies import accept, attach, attached, numbers
from policies.defaults import Defaults, over, read
from policies.index import Network
from policies.nad import Nad
from policies.names import NETWORK
from policies.network import Mode, NetworkSpec
from policies.refusal import Pending, Reason, Refusal
from policies.shapes import Isolation
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
    refusal = numbers.refusal(snapshot, tenancy, network, partition, number)
    if refusal is not None:
        return refusal
    nads: list[Nad] = []
    if spec.mode in accept.MULTUS_MODES:
        found = attached.find(snapshot, tenancy, network, number)
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
        cause="UnknownNetwork",
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
            cause="NetworkNotAccepted",
        )
    if mode is Mode.HOST_NETWORK and not tenancy.limits.host_network:
        return Refusal(
            Reason.POLICY_NOT_READY,
            f"{tenancy.title}: spec.networks[{network.name}]: a HostNetwork network needs "
            "spec.podLimits.hostNetwork: true; the platform admin can set it",
            cause="HostNetworkNotAllowed",
        )
    return None


def _lanes(spec: NetworkSpec, nads: list[Nad]) -> tuple[Lane, ...]:
    if not nads:
        return tuple(Lane(rail.name, "", "", rail.resource_name or "") for rail in spec.rails)
    return tuple(
        Lane(rail.name, nad.namespace, nad.name, rail.resource_name or nad.resource_name)
        for rail, nad in zip(spec.rails, nads, strict=True)
    )
