"""The NetworkAttachmentDefinitions that stand for a network's rails in one namespace, verified."""

from hashlib import sha256

from policies import attach
from policies.governance import interface_of
from policies.index import Network
from policies.nad import Nad
from policies.names import NAD
from policies.network import NetworkSpec, Rail
from policies.partition import suffix
from policies.refusal import Pending, Reason, Refusal
from policies.shapes import PartitionType
from policies.snapshot import Snapshot
from policies.tenancy import Tenancy

_LONGEST_NAME = 63


def find(
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
                cause="AttachmentsMissing",
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
