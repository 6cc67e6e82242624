"""Which NetworkAttachmentDefinitions lead onto a fabric, whoever wrote them.

Governed is a NAD that we rendered, that a rail names, or that uses a rail's resource, interface
or a fixed device of the node; what cannot be read counts as governed. Others (a storage NIC, an
OVS bridge) are none of our business.
"""

from collections.abc import Iterable, Mapping

import msgspec
from immutables import Map

from policies.accept import CNI_TYPE, VLAN_VARIABLE
from policies.nad import Nad
from policies.network import Mode, RDMANetwork
from policies.overlay import Overlay
from policies.tally import Counts, count

_MOST_LEVELS = 8
"""VLANs stacked on one interface; names of Linux interfaces have 15 characters."""
DEFAULT_ROUTE_MODES = frozenset({Mode.MACVLAN, Mode.IPVLAN})
"""Modes whose plugins take the default route's interface where no master is named."""
_DEFAULT_ROUTE_TYPES = frozenset(CNI_TYPE[mode] for mode in DEFAULT_ROUTE_MODES)


Owners = Mapping[str, tuple[str, ...]]
"""Names of resources or interfaces, each with the networks that use it."""


class Attached(msgspec.Struct, frozen=True, gc=False):
    """One NAD that a rail names with its namespace, so that an admin wrote it."""

    network: str
    nad: Nad


class Uses(msgspec.Struct, frozen=True):
    """What the NADs say that rails name without a namespace: any tenant may have written them.

    Governed, but nobody's to give. Each resource and interface with the names of the NADs that
    use it, and in how many namespaces they do.
    """

    resources: Map[str, Counts] = Map()
    interfaces: Map[str, Counts] = Map()


class UsesDraft:
    """Uses in the making: NADs come and go one by one, whatever the others say."""

    def __init__(self, base: Uses) -> None:
        """Begin with what is counted already."""
        self._base = base
        self._resources = Overlay(base.resources)
        self._interfaces = Overlay(base.interfaces)

    def count(self, nad: Nad | None, step: int) -> None:
        """Count what a NAD uses in (1) or out again (-1); one that cannot be read uses nothing."""
        if nad is None or nad.problem:
            return
        if nad.resource_name:
            count(self._resources, nad.resource_name, nad.name, step)
        for interface in {interface_of(master) for master in nad.masters}:
            count(self._interfaces, interface, nad.name, step)

    def finished(self) -> Uses:
        """Return the result: the very same value where nothing is different."""
        found = Uses(self._resources.finished(), self._interfaces.finished())
        return self._base if found == self._base else found


class Governance(msgspec.Struct, frozen=True):
    """What the rails of all networks use."""

    resources: Owners = {}
    interfaces: Owners = {}
    uses: Uses = Uses()
    sharers: Owners = {}
    """Names of NADs that rails name without a namespace, each with the networks of these rails."""
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
        owners = self.resources.get(resource)
        if owners is None:
            used_by = self.uses.resources.get(resource, ())
            owners = tuple(sorted({owner for name in used_by for owner in self.sharers[name]}))
        return owners

    def _uses_interface(self, master: str) -> bool:
        interface = interface_of(master)
        return interface in self.interfaces or interface in self.uses.interfaces

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


def of(
    networks: Iterable[RDMANetwork],
    attached: Iterable[Attached] = (),
    uses: Uses = Uses(),  # noqa: B008 a frozen value
) -> Governance:
    """Return what the rails of some networks use.

    Args:
        networks: All that are known.
        attached: The admins' NADs that their rails name, which say what the rails leave open.
        uses: What the NADs use that their rails name without a namespace.
    """
    found = _Found()
    attachments: set[tuple[str, str]] = set()
    sharers: dict[str, tuple[str, ...]] = {}
    has_shared_rails = False
    for network in networks:
        owner = network.metadata.name
        has_shared_rails |= network.spec.mode in DEFAULT_ROUTE_MODES
        for rail in network.spec.rails:
            found.note(owner, (rail.resource_name,), (rail.master, *rail.alt_names))
            if rail.network_attachment:
                attachment = rail.network_attachment
                attachments.add((attachment.namespace or "", attachment.name))
                if not attachment.namespace:
                    _note(sharers, attachment.name, owner)
    for one in attached:
        found.note(one.network, (one.nad.resource_name,), one.nad.masters)
    return Governance(
        resources=found.resources,
        interfaces=found.interfaces,
        uses=uses,
        sharers=sharers,
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
