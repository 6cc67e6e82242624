"""Whether a network can be used at all: the contradictions that one RDMANetwork can hold."""

import re
from collections.abc import Iterator

from policies import accept_defaults, accept_template
from policies.network import Mode, NetworkSpec, Rail
from policies.partition import MAX_VLAN, number_problem
from policies.rules import Rules
from policies.shapes import PartitionType

IMPLEMENTED = frozenset(
    {
        Mode.MACVLAN,
        Mode.IPVLAN,
        Mode.SRIOV_ETHERNET,
        Mode.SRIOV_INFINIBAND,
        Mode.HOST_NETWORK,
        Mode.DEVICE_ONLY,
    }
)
"""Modes that this version equips pods for; a network of another mode is refused by name."""
WHOLE_DEVICE_MODES = frozenset({Mode.SRIOV_ETHERNET, Mode.SRIOV_INFINIBAND, Mode.HOST_DEVICE})
"""Modes that hand out whole devices: one unit of the resource for each attachment."""
ONE_PER_RAIL_MODES = frozenset({Mode.MACVLAN, Mode.IPVLAN, Mode.IPOIB})
"""Modes with at most one attachment a rail, and one token for each distinct pool."""
SHARED_HCA_MODES = ONE_PER_RAIL_MODES | {Mode.HOST_NETWORK}
"""Modes in which pods of a node share one HCA and its GID table."""

CNI_TYPE = {
    Mode.MACVLAN: "macvlan",
    Mode.IPVLAN: "ipvlan",
    Mode.IPOIB: "ipoib",
    Mode.SRIOV_ETHERNET: "sriov",
    Mode.SRIOV_INFINIBAND: "ib-sriov",
    Mode.HOST_DEVICE: "host-device",
}
"""The CNI plugin that makes the interface, for each mode of Multus."""
MULTUS_MODES = frozenset(CNI_TYPE)
"""Modes whose attachments are network selections, which need a pod network of its own."""

PARTITION_OF = {
    Mode.MACVLAN: PartitionType.VLAN,
    Mode.IPVLAN: PartitionType.VLAN,
    Mode.SRIOV_ETHERNET: PartitionType.VLAN,
    Mode.SRIOV_INFINIBAND: PartitionType.PKEY,
}
"""What each mode's attachments can carry; modes not listed carry no partition."""
VLAN_VARIABLE = "$(VLAN)"
MASTER_PATTERN = r"^[^$]+([.][$][(]VLAN[)])?$"
"""A rail's interface: only the sub-interface of a VLAN may be a variable."""
NAD_FREE_MODES = frozenset({Mode.HOST_NETWORK, Mode.DEVICE_ONLY})
"""Modes in which nothing is attached: the device plugin's resource is all that a rail is."""
BY_MASTER_MODES = ONE_PER_RAIL_MODES & frozenset(PARTITION_OF)
"""Modes that carry a VLAN by the host's sub-interface, ``master: NAME.$(VLAN)``."""
INTERFACE_MODES = MULTUS_MODES | {Mode.HOST_NETWORK}
"""Modes whose rails are interfaces of the host, by whatever name."""
_MASTER = re.compile(MASTER_PATTERN)


def problem(spec: NetworkSpec, rules: Rules) -> str | None:
    """Return why a network is not accepted, as path, problem and expectation; None where it is."""
    return next(_problems(spec, rules), None)


def _problems(spec: NetworkSpec, rules: Rules) -> Iterator[str]:
    names = [rail.name for rail in spec.rails]
    if len(set(names)) != len(names):
        yield "spec.rails: a name occurs twice"
    for rail in spec.rails:
        yield from _rail_problems(spec.mode, rail, rules)
    yield from _twin_problems(spec)
    yield from _count_problems(spec)
    if spec.partition is not None:
        yield from _partition_problems(spec)
    if spec.host_interfaces and not (spec.partition and spec.mode in BY_MASTER_MODES):
        yield "spec.hostInterfaces: is for Macvlan and IPVLAN with a VLAN partition"
    yield from _master_problems(spec)
    yield from accept_defaults.problems(spec.pod_defaults)
    yield from accept_template.problems(spec)


def _count_problems(spec: NetworkSpec) -> Iterator[str]:
    if spec.count is not None and spec.per_accelerator is not None:
        yield "spec.count and spec.perAccelerator: only one of them can say what NAME means"
    if (
        spec.mode in ONE_PER_RAIL_MODES
        and isinstance(spec.count, int)
        and spec.count > len(spec.rails)
    ):
        yield f"spec.count: {spec.count} is more than the {len(spec.rails)} rails of {spec.mode}"


def _partition_problems(spec: NetworkSpec) -> Iterator[str]:
    partition = spec.partition
    assert partition is not None  # noqa: S101 the caller has looked
    carried = PARTITION_OF.get(spec.mode)
    if carried is None:
        yield f"spec.partition: mode {spec.mode} carries no partition"
    elif carried is not partition.type:
        yield f"spec.partition.type: mode {spec.mode} carries a {carried}, not a {partition.type}"
    low, high = partition.min, partition.max
    if low is not None and high is not None and low > high:
        yield f"spec.partition: min {low} is above max {high}"
    if partition.type is PartitionType.VLAN and max(low or 0, high or 0) > MAX_VLAN:
        yield f"spec.partition: a VLAN is at most {MAX_VLAN}"
    for name, number in (("min", low), ("max", high)):
        wrong = number_problem(PartitionType.PKEY, number) if number else None
        if wrong and partition.type is PartitionType.PKEY:
            yield f"spec.partition.{name}: {wrong}"


def _rail_problems(mode: Mode, rail: Rail, rules: Rules) -> Iterator[str]:
    path = f"spec.rails[{rail.name}]"
    if rail.resource_name is not None and not rules.is_governed(rail.resource_name):
        yield (
            f"{path}.resourceName: {rail.resource_name} is outside the settings' governedResources "
            "or is an accelerator"
        )
    yield from _device_problems(path, mode, rail)
    yield from _interface_problems(path, mode, rail)


def _device_problems(path: str, mode: Mode, rail: Rail) -> Iterator[str]:
    """Yield rails whose devices nobody gives, or two do."""
    attached = rail.network_attachment is not None
    if mode in ONE_PER_RAIL_MODES and rail.master is None and not attached:
        yield f"{path}: mode {mode} needs master or networkAttachment"
    if mode is Mode.DRA:
        if rail.device_class_name is None:
            yield f"{path}: mode DRA needs deviceClassName"
        if rail.resource_name is not None:
            yield f"{path}.resourceName: mode DRA names its devices by deviceClassName"
    elif rail.resource_name is None and not (attached and mode in MULTUS_MODES):
        yield f"{path}: mode {mode} needs resourceName"
    elif rail.device_class_name is not None:
        yield f"{path}.deviceClassName: is for mode DRA only"


def _interface_problems(path: str, mode: Mode, rail: Rail) -> Iterator[str]:
    """Yield what a rail says of an interface that it has not."""
    attached = rail.network_attachment is not None
    if attached and mode in NAD_FREE_MODES:
        yield f"{path}.networkAttachment: mode {mode} selects none"
    if (rail.master or rail.alt_names) and mode not in INTERFACE_MODES:
        yield f"{path}: a rail of mode {mode} is no interface: want neither master nor altNames"
    if rail.alt_names and not rail.master and not attached:
        yield f"{path}.altNames: are other names of master, which is absent"


def _twin_problems(spec: NetworkSpec) -> Iterator[str]:
    """Yield rails that would join the same interface, or by the same NAD, twice."""
    masters = [rail.master for rail in spec.rails if rail.master]
    if spec.mode in ONE_PER_RAIL_MODES and len(set(masters)) != len(masters):
        yield "spec.rails: two rails have one master; a rail is one interface"
    attached = [
        (rail.network_attachment.namespace, rail.network_attachment.name)
        for rail in spec.rails
        if rail.network_attachment
    ]
    if len(set(attached)) != len(attached):
        yield "spec.rails: two rails have one networkAttachment; a rail has its own"


def _master_problems(spec: NetworkSpec) -> Iterator[str]:
    """Yield rails whose interface does not carry the VLAN, or carries one that nobody has."""
    for rail in spec.rails:
        path = f"spec.rails[{rail.name}].master"
        if rail.master and _MASTER.fullmatch(rail.master) is None:
            yield f"{path}: only .{VLAN_VARIABLE} at its end is replaced: write it so"
        has_vlan = VLAN_VARIABLE in (rail.master or "")
        if has_vlan and spec.mode not in BY_MASTER_MODES:
            yield f"{path}: {VLAN_VARIABLE} is for Macvlan and IPVLAN"
        elif has_vlan and spec.partition is None:
            yield f"{path}: {VLAN_VARIABLE} needs spec.partition"
        elif rail.master and not has_vlan and spec.partition and spec.mode in BY_MASTER_MODES:
            yield f"{path}: a VLAN is on the sub-interface: write {rail.master}.{VLAN_VARIABLE}"
