"""Which NetworkAttachmentDefinitions lead onto a fabric, whoever wrote them.

Governed is a NAD that we rendered, that a rail names, or that uses a rail's resource, interface
or a fixed device of the node; what cannot be read counts as governed. Others (a storage NIC, an
OVS bridge) are none of our business.
"""

from collections.abc import Iterable, Mapping

import msgspec

from policies.accept import CNI_TYPE, VLAN_VARIABLE
from policies.nad import Nad
from policies.network import Mode, RDMANetwork

_MOST_LEVELS = 8
"""VLANs stacked on one interface; names of Linux interfaces have 15 characters."""
DEFAULT_ROUTE_MODES = frozenset({Mode.MACVLAN, Mode.IPVLAN})
"""Modes whose plugins take the default route's interface where no master is named."""
_DEFAULT_ROUTE_TYPES = frozenset(CNI_TYPE[mode] for mode in DEFAULT_ROUTE_MODES)


Owners = Mapping[str, tuple[str, ...]]
"""Names of resources or interfaces, each with the networks that use it."""


class Attached(msgspec.Struct, frozen=True, gc=False):
    """One NAD that a rail names."""

    network: str
    nad: Nad
    is_trusted: bool
    """Whether the rail names its namespace, so that an admin wrote it; else a tenant may have."""


class Governance(msgspec.Struct, frozen=True):
    """What the rails of all networks use."""

    resources: Owners = {}
    interfaces: Owners = {}
    claimed_resources: Owners = {}
    """What only NADs say that tenants may write: governed, but nobody's to give."""
    claimed_interfaces: Owners = {}
    attachments: frozenset[tuple[str, str]] = frozenset()
    """``(namespace, name)`` of NADs that rails name; namespace is empty for the pod's own."""
    has_shared_rails: bool = False

    def governs(self, nad: Nad) -> bool:
        """Whether a NAD leads onto a fabric."""
        return bool(
            nad.rendered
            or nad.problem
            or nad.flags & Nad.FIXED_DEVICE
            or self.owners_of(nad.resource_name)
            or self.names(nad.namespace, nad.name)
            or any(self._uses_interface(master) for master in nad.masters)
            or (self.has_shared_rails and not nad.masters and nad.types[0] in _DEFAULT_ROUTE_TYPES)
        )

    def owners_of(self, resource: str) -> tuple[str, ...]:
        """Return the networks that use a resource, by whatever they say so."""
        return self.resources.get(resource) or self.claimed_resources.get(resource, ())

    def _uses_interface(self, master: str) -> bool:
        interface = interface_of(master)
        return interface in self.interfaces or interface in self.claimed_interfaces

    def names(self, namespace: str, name: str) -> bool:
        """Whether a rail names this NAD."""
        return (namespace, name) in self.attachments or ("", name) in self.attachments


def interface_of(master: str) -> str:
    """Return the interface below VLAN sub-interfaces: ``ens1f0np0.210`` is on ``ens1f0np0``."""
    for _ in range(_MOST_LEVELS):
        lower, _, number = master.rpartition(".")
        if not lower or not (number.isdigit() or number == VLAN_VARIABLE):
            break
        master = lower
    return master


def of(networks: Iterable[RDMANetwork], attached: Iterable[Attached] = ()) -> Governance:
    """Return what the rails of some networks use.

    Args:
        networks: All that are known.
        attached: The NADs that their rails name, which say what the rails leave open.
    """
    found = _Found()
    attachments: set[tuple[str, str]] = set()
    has_shared_rails = False
    for network in networks:
        owner = network.metadata.name
        has_shared_rails |= network.spec.mode in DEFAULT_ROUTE_MODES
        for rail in network.spec.rails:
            found.note(owner, (rail.resource_name,), (rail.master, *rail.alt_names))
            if rail.network_attachment:
                attachment = rail.network_attachment
                attachments.add((attachment.namespace or "", attachment.name))
    claimed = _Found()
    for one in attached:
        side = found if one.is_trusted else claimed
        side.note(one.network, (one.nad.resource_name,), one.nad.masters)
    return Governance(
        resources=found.resources,
        interfaces=found.interfaces,
        claimed_resources=claimed.resources,
        claimed_interfaces=claimed.interfaces,
        attachments=frozenset(attachments),
        has_shared_rails=has_shared_rails,
    )


class _Found:
    """Resources and interfaces while they are gathered."""

    def __init__(self) -> None:
        self.resources: dict[str, tuple[str, ...]] = {}
        self.interfaces: dict[str, tuple[str, ...]] = {}

    def note(
        self, owner: str, resources: Iterable[str | None], masters: Iterable[str | None]
    ) -> None:
        for name in resources:
            _note(self.resources, name, owner)
        for name in masters:
            _note(self.interfaces, interface_of(name) if name else None, owner)


def _note(owners: dict[str, tuple[str, ...]], name: str | None, owner: str) -> None:
    if name and owner not in owners.get(name, ()):
        owners[name] = (*owners.get(name, ()), owner)
