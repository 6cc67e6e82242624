"""Whether a network can be used at all: the contradictions that one RDMANetwork can hold."""

from collections.abc import Iterator, Mapping

from policies.names import HUGEPAGES_PREFIX
from policies.network import Mode, NetworkSpec, Rail
from policies.partition import MAX_VLAN
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
RENDERED_KEYS: Mapping[str, str] = {
    "type": "spec.mode decides the CNI plugin",
    "name": "the name of a network attachment is made of network, rail and partition",
    "cniVersion": "the CNI version is that of the rendered configuration",
    "master": "write it as master of the rail",
    "vlan": "a VLAN comes from the tenant's partition",
    "pkey": "a PKey comes from the tenant's partition",
    "deviceID": "the device is the one that the kubelet hands out",
    "resourceName": "write it as resourceName of the rail",
    "plugins": "a template holds further keys of one plugin, not a chain",
}
"""Keys that a template may not hold, as CNI spells them, and why."""
_RENDERED_FOLDED = {key.casefold(): why for key, why in RENDERED_KEYS.items()}


def problem(spec: NetworkSpec, rules: Rules) -> str | None:
    """Return why a network is not accepted, as path, problem and expectation; None where it is."""
    return next(_problems(spec, rules), None)


def _problems(spec: NetworkSpec, rules: Rules) -> Iterator[str]:
    names = [rail.name for rail in spec.rails]
    if len(set(names)) != len(names):
        yield "spec.rails: a name occurs twice"
    for rail in spec.rails:
        yield from _rail_problems(spec.mode, rail, rules)
    if spec.count is not None and spec.per_accelerator is not None:
        yield "spec.count and spec.perAccelerator: only one of them can say what NAME means"
    if (
        spec.mode in ONE_PER_RAIL_MODES
        and isinstance(spec.count, int)
        and spec.count > len(spec.rails)
    ):
        yield f"spec.count: {spec.count} is more than the {len(spec.rails)} rails of {spec.mode}"
    if spec.partition is not None:
        yield from _partition_problems(spec)
    yield from _master_problems(spec)
    yield from _pod_problems(spec)
    for key in spec.template or {}:
        why = _RENDERED_FOLDED.get(key.casefold())
        if why is not None:
            yield f"spec.template.{key}: {why}"


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


def _rail_problems(mode: Mode, rail: Rail, rules: Rules) -> Iterator[str]:
    path = f"spec.rails[{rail.name}]"
    if rail.resource_name is not None and not rules.is_governed(rail.resource_name):
        yield (
            f"{path}.resourceName: {rail.resource_name} is outside the settings' governedResources "
            "or is an accelerator"
        )
    attached = rail.network_attachment is not None
    if mode in ONE_PER_RAIL_MODES and rail.master is None and not attached:
        yield f"{path}: mode {mode} needs master or networkAttachment"
    if mode is Mode.DRA:
        if rail.device_class_name is None:
            yield f"{path}: mode DRA needs deviceClassName"
    elif rail.resource_name is None and not (attached and mode in MULTUS_MODES):
        yield f"{path}: mode {mode} needs resourceName"
    elif rail.device_class_name is not None:
        yield f"{path}.deviceClassName: is for mode DRA only"
    if attached and mode not in MULTUS_MODES and mode is not Mode.DRA:
        yield f"{path}.networkAttachment: mode {mode} selects none"


def _master_problems(spec: NetworkSpec) -> Iterator[str]:
    """Yield rails whose interface does not carry the VLAN, or carries one that nobody has."""
    for rail in spec.rails:
        has_vlan = VLAN_VARIABLE in (rail.master or "")
        path = f"spec.rails[{rail.name}].master"
        if has_vlan and spec.partition is None:
            yield f"{path}: {VLAN_VARIABLE} needs spec.partition"
        elif rail.master and not has_vlan and spec.partition and spec.mode in ONE_PER_RAIL_MODES:
            yield f"{path}: a VLAN is on the sub-interface: write {rail.master}.{VLAN_VARIABLE}"


def _pod_problems(spec: NetworkSpec) -> Iterator[str]:
    """Yield contradictions in what pods get."""
    capabilities = spec.pod_defaults.capabilities
    both = set(capabilities.add or ()) & set(capabilities.drop or ()) if capabilities else set()
    for name in sorted(both):
        yield f"spec.podDefaults.capabilities: {name} is both added and dropped"
    for key in spec.pod_defaults.hugepages:
        if not key.startswith(HUGEPAGES_PREFIX):
            yield f"spec.podDefaults.hugepages.{key}: want a page size such as hugepages-2Mi"
