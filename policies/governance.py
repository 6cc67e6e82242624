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


class Governance(msgspec.Struct, frozen=True):
    """What the rails of all networks use, each with the names of these networks."""

    resources: Mapping[str, tuple[str, ...]] = {}
    interfaces: Mapping[str, tuple[str, ...]] = {}
    attachments: frozenset[tuple[str, str]] = frozenset()
    """``(namespace, name)`` of NADs that rails name; namespace is empty for the pod's own."""
    has_shared_rails: bool = False

    def governs(self, nad: Nad) -> bool:
        """Whether a NAD leads onto a fabric."""
        return bool(
            nad.rendered
            or nad.problem
            or nad.flags & Nad.FIXED_DEVICE
            or nad.resource_name in self.resources
            or self.names(nad.namespace, nad.name)
            or any(interface_of(master) in self.interfaces for master in nad.masters)
            or (self.has_shared_rails and not nad.masters and nad.types[0] in _DEFAULT_ROUTE_TYPES)
        )

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


def of(networks: Iterable[RDMANetwork]) -> Governance:
    """Return what the rails of some networks use."""
    resources: dict[str, tuple[str, ...]] = {}
    interfaces: dict[str, tuple[str, ...]] = {}
    attachments: set[tuple[str, str]] = set()
    has_shared_rails = False
    for network in networks:
        owner = network.metadata.name
        has_shared_rails |= network.spec.mode in DEFAULT_ROUTE_MODES
        for rail in network.spec.rails:
            _note(resources, rail.resource_name, owner)
            for name in (rail.master, *rail.alt_names):
                _note(interfaces, interface_of(name) if name else None, owner)
            if rail.network_attachment:
                attachment = rail.network_attachment
                attachments.add((attachment.namespace or "", attachment.name))
    return Governance(resources, interfaces, frozenset(attachments), has_shared_rails)


def _note(owners: dict[str, tuple[str, ...]], name: str | None, owner: str) -> None:
    if name and owner not in owners.get(name, ()):
        owners[name] = (*owners.get(name, ()), owner)
