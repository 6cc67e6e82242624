"""Which NetworkAttachmentDefinitions lead onto a fabric, whoever wrote them.

Governed is a NAD that we rendered, that a rail names, or that uses a rail's resource, interface
or a fixed device of the node; what cannot be read counts as governed. Others (a storage NIC, an
OVS bridge) are none of our business.
"""

from collections.abc import Iterable

import msgspec

from policies.accept import VLAN_VARIABLE
from policies.nad import Nad
from policies.network import Mode, RDMANetwork

_MOST_LEVELS = 8
"""VLANs stacked on one interface; names of Linux interfaces have 15 characters."""
_DEFAULT_ROUTE_TYPES = frozenset({"macvlan", "ipvlan"})
"""Plugins that take the default route's interface where no master is named."""


class Governance(msgspec.Struct, frozen=True):
    """What the rails of all networks use."""

    resources: frozenset[str] = frozenset()
    interfaces: frozenset[str] = frozenset()
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
    resources: set[str] = set()
    interfaces: set[str] = set()
    attachments: set[tuple[str, str]] = set()
    has_shared_rails = False
    for network in networks:
        has_shared_rails |= network.spec.mode in {Mode.MACVLAN, Mode.IPVLAN}
        for rail in network.spec.rails:
            if rail.resource_name:
                resources.add(rail.resource_name)
            interfaces.update(interface_of(name) for name in (rail.master, *rail.alt_names) if name)
            if rail.network_attachment:
                attachment = rail.network_attachment
                attachments.add((attachment.namespace or "", attachment.name))
    return Governance(
        frozenset(resources), frozenset(interfaces), frozenset(attachments), has_shared_rails
    )
