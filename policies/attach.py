"""Whether a NetworkAttachmentDefinition really is what network, rail and partition say.

No CNI takes a VLAN or PKey from the pod, so the tenant's partition is real only where the NAD
carries it: the governing keys are compared before a pod is sent there.
"""

from policies.accept import CNI_TYPE, WHOLE_DEVICE_MODES
from policies.governance import DEFAULT_ROUTE_MODES, interface_of
from policies.nad import Nad
from policies.names import RESOURCE_NAME_ANNOTATION
from policies.network import Mode, NetworkSpec, Rail
from policies.partition import shown
from policies.shapes import Isolation, PartitionType

_CHAINED = frozenset(
    {"rdma", "tuning", "coordinator", "bandwidth", "sbr", "firewall", "vrf", "route-override"}
)
"""Meta plugins that may follow the one that makes the interface."""
_IPAM = frozenset(
    {"", "static", "host-local", "dhcp", "whereabouts", "nv-ipam", "spiderpool", "calico-ipam"}
    | {"kube-ovn"}
)
"""Plugins that only hand out addresses; ``ipam.type`` is run with the whole config."""


def difference(spec: NetworkSpec, rail: Rail, nad: Nad, number: int | None) -> str | None:
    """Return how a NAD differs from what it must be, or None where it is right.

    Args:
        spec: The network; its mode is one of `CNI_TYPE`.
        rail: The rail that the NAD stands for.
        nad: The NAD.
        number: The tenant's VLAN or PKey, or None where the network carries no partition.
    """
    if nad.problem:
        return nad.problem
    expected = CNI_TYPE[spec.mode]
    if nad.types[0] != expected:
        return f"type is {nad.types[0]}, but mode {spec.mode} needs {expected}"
    strange = [kind for kind in nad.types[1:] if kind not in _CHAINED]
    if strange:
        return f"plugin {strange[0]} may not follow {expected}"
    return (
        _content_difference(nad)
        or _resource_difference(spec, rail, nad)
        or _number_difference(spec, rail, nad, number)
    )


def _content_difference(nad: Nad) -> str | None:
    """Return what no NAD of a fabric may hold, whatever network and rail it stands for."""
    if nad.ipam not in _IPAM:
        return f"ipam.type {nad.ipam} is no known address plugin"
    if nad.flags & Nad.FIXED_DEVICE:
        return "names a fixed device of the node"
    if nad.flags & Nad.ARGUED:
        return "carries args, by which an address or a mark could be forged"
    return nad.odd or None


def _resource_difference(spec: NetworkSpec, rail: Rail, nad: Nad) -> str | None:
    key = RESOURCE_NAME_ANNOTATION
    if not nad.resource_name:
        if spec.mode in WHOLE_DEVICE_MODES:
            return f"lacks annotation {key}, so Multus would hand it no device"
        return None if rail.resource_name else f"lacks annotation {key} and the rail resourceName"
    if rail.resource_name not in {None, nad.resource_name}:
        return f"annotation {key} is {nad.resource_name}, but the rail's is {rail.resource_name}"
    return None


def _number_difference(spec: NetworkSpec, rail: Rail, nad: Nad, number: int | None) -> str | None:
    if spec.mode in DEFAULT_ROUTE_MODES:
        return _master_difference(rail, nad, number)
    trusted = rail.network_attachment is not None and rail.network_attachment.namespace
    if number is None and trusted:
        return None
    if spec.mode is Mode.SRIOV_ETHERNET:
        carried, kind = nad.vlan or None, PartitionType.VLAN
    else:
        carried, kind = nad.pkey or None, PartitionType.PKEY
    if carried == number:
        return None
    return f"carries {_said(kind, carried)}, but the policy says {_said(kind, number)}"


def _master_difference(rail: Rail, nad: Nad, number: int | None) -> str | None:
    names = tuple(name for name in (rail.master, *rail.alt_names) if name)
    if not names and number is None:
        return None
    wanted = {_master(name, number) for name in names}
    if len(nad.masters) == 1 and nad.masters[0] in wanted:
        return None
    if not names:
        if len(nad.masters) == 1 and nad.masters[0] == f"{interface_of(nad.masters[0])}.{number}":
            return None
        wanted = {f"<interface>.{number}"}
    have = ", ".join(nad.masters) or "absent (the default route's interface)"
    return f"master is {have}, but the policy says {' or '.join(sorted(wanted))}"


def _master(name: str, number: int | None) -> str:
    """Return the host interface of one tenant: the VLAN sub-interface where there is a number."""
    if number is None:
        return name.replace(".$(VLAN)", "")
    written = name.replace("$(VLAN)", str(number))
    return written if written != name else f"{name}.{number}"


def _said(kind: PartitionType, number: int | None) -> str:
    return f"no {kind}" if number is None else shown(kind, number)


def isolation(spec: NetworkSpec, nads: tuple[Nad, ...]) -> Isolation:
    """Return how far a network with these NADs keeps tenants apart.

    Source: the table of modes in the design; sriov-cni enforces a VLAN on the physical function,
    ib-kubernetes binds a PKey to the GUID, macvlan separates frames but not the shared HCA.
    """
    if spec.partition is None:
        return Isolation.NONE
    if spec.mode in DEFAULT_ROUTE_MODES:
        return Isolation.SOFT
    wanted = (
        Nad.SPOOF_CHECKED | Nad.UNTRUSTED if spec.mode is Mode.SRIOV_ETHERNET else Nad.IB_KUBERNETES
    )
    hard = all(nad.flags & wanted == wanted for nad in nads)
    return Isolation.HARD if hard else Isolation.NONE
