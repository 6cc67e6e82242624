"""``RDMANetwork``: a fabric and how a pod joins it. Same shape as the CRD, field for field."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictInt

from policies.names import DEFAULT_NETWORK_WORD
from policies.shapes import (
    DISTINCT,
    MAX_ALT_NAMES,
    MAX_LIST,
    MAX_RAILS,
    PKEY_BITS,
    WHOLE,
    DnsLabel,
    DnsName,
    InterfaceName,
    Isolation,
    PartitionType,
    PodDefaults,
    Positive,
    QualifiedName,
    Shape,
)


class Mode(StrEnum):
    """How a pod joins the fabric; the one field that drives every decision."""

    MACVLAN = "Macvlan"
    IPVLAN = "IPVLAN"
    IPOIB = "IPoIB"
    SRIOV_ETHERNET = "SRIOVEthernet"
    SRIOV_INFINIBAND = "SRIOVInfiniBand"
    HOST_DEVICE = "HostDevice"
    HOST_NETWORK = "HostNetwork"
    DEVICE_ONLY = "DeviceOnly"
    DRA = "DRA"


class NumberRange(Shape):
    """The partition numbers that tenants of a network may get."""

    type: PartitionType
    """What separates the tenants: VLAN (modes Macvlan, IPVLAN, SRIOVEthernet) or PKey (mode
    SRIOVInfiniBand). Required. Immutable, since numbers are claimed by type."""
    min: Annotated[StrictInt, Field(ge=1, le=PKEY_BITS), WHOLE] | None = None
    """Smallest number that is given to a tenant: a VLAN from 1 to 4094, or a PKey from 0x0001 to
    0x7ffe without the membership bit 0x8000. An integer, 0x0010 may be written. Default: 1."""
    max: Annotated[StrictInt, Field(ge=1, le=PKEY_BITS), WHOLE] | None = None
    """Largest number that is given to a tenant, no smaller than min; as min. Default: 4094 for a
    VLAN, 0x7ffe for a PKey."""


class NetworkAttachment(Shape):
    """A NetworkAttachmentDefinition (NAD) that an admin wrote."""

    namespace: DnsLabel | None = None
    """Namespace of the NAD. Absent: the pod's own, whose NADs its tenant may be able to write, so
    name a namespace of yours."""
    name: DnsName
    """Name of the NAD. Required."""


class Rail(Shape):
    """One east-west NIC of a node, or one pool of its virtual functions."""

    name: Annotated[DnsLabel, Field(max_length=32)]
    """Name of the rail, unique in the network, such as r0; a part of the names of its attachments.
    Required."""
    resource_name: QualifiedName | None = None
    """Extended resource of the device plugin, PREFIX/NAME, such as nvidia.com/ib_r0; equipped
    containers ask for it. One that the webhook governs (--governed-resources) and no accelerator.
    Needed in every mode but DRA, unless networkAttachment names a NAD. Default: what that NAD says.
    """
    device_class_name: DnsName | None = None
    """DeviceClass of the devices, such as dranet, for mode DRA only, which needs it in place of
    resourceName. Default: none."""
    master: InterfaceName | None = None
    """Interface on the host, such as ens1f0np0; needed by modes Macvlan, IPVLAN and IPoIB unless
    networkAttachment is given. With a partition write ens1f0np0.$(VLAN), the sub-interface of the
    tenant's VLAN. In other modes it says which interface the rail is, so that attachments to it are
    checked. Default: none."""
    alt_names: Annotated[
        tuple[Annotated[InterfaceName, Field(description="Another name of the interface.")], ...],
        Field(max_length=MAX_ALT_NAMES),
        DISTINCT,
        WHOLE,
    ] = ()
    """Other names of that interface on the nodes (ip link shows them as altname), such as
    enp24s0f0np0, so that it cannot be reached by them. Default: none."""
    hca: InterfaceName | None = None
    """RDMA device of the rail as verbs name it, such as mlx5_0. Default: not known."""
    network_attachment: NetworkAttachment | None = None
    """A NetworkAttachmentDefinition of an admin, used in place of the one named after network, rail
    and partition. Only in modes with attachments (not HostNetwork and DeviceOnly). Default:
    rdma-NETWORK-RAIL-PARTITION in the pod's namespace."""


class NetworkSpec(Shape):
    """What a fabric is made of and how a pod joins it; written by the platform admin."""

    mode: Mode
    """How a pod joins the fabric; decides all else. Macvlan, IPVLAN: RoCE on a shared NIC. IPoIB:
    InfiniBand on a shared NIC. SRIOVEthernet, SRIOVInfiniBand: a virtual function for each
    attachment. HostDevice: a whole NIC. HostNetwork: the node's own network. DeviceOnly: the device
    plugin alone. DRA: ResourceClaims. Required. Immutable: make another network, since pods and
    attachments of this one are of its mode."""
    fabric: DnsLabel | None = None
    """Fabric in which partition numbers are unique, such as leaf-eth. Networks of one fabric share
    it, and a tenant has one number on all of them. Default: the network's name. Immutable, since
    numbers are claimed in it."""
    partition: NumberRange | None = None
    """The VLANs or PKeys that keep tenants apart. Absent: the network has none, all its tenants are
    in one partition. Immutable in that it can be neither added nor removed, since running pods
    would stay on the other side; the bounds min and max may change."""
    rails: Annotated[tuple[Rail, ...], Field(min_length=1, max_length=MAX_RAILS)] = Field(
        json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """The NICs or pools, 1 to 16, in the order in which attachments are dealt over them. Two field
    managers may own different rails. Required."""
    count: Positive | Literal["All"] | None = None
    """How many attachments (or tokens, or devices) the bare name of the network means in a pod's
    annotation: All (one for each rail) or a number from 1 to 1024, at most the number of rails
    where a rail is joined once. Excludes perAccelerator. Default: All."""
    per_accelerator: Positive | None = None
    """How many attachments (or tokens, or devices) a pod gets for each of its accelerators (GPUs,
    MIG slices), 1 to 1024. Excludes count. Default: count decides."""
    template: Annotated[dict[str, Any], Field(max_length=MAX_LIST)] | None = Field(
        default=None, json_schema_extra={"x-kubernetes-preserve-unknown-fields": True}
    )
    """Further CNI keys of the network's attachments, as ipam, mtu or vlanQoS; at most 64 keys and
    16 KiB as JSON. In texts $(VLAN), $(PKEY), $(RAIL) and $(NAMESPACE) stand for their values. What
    mode, rail and partition decide cannot be written here. Default: none."""
    host_interfaces: Literal["PreCreated"] | None = None
    """PreCreated: every node has the VLAN sub-interfaces of the whole range, so that numbers may be
    allocated; for modes Macvlan and IPVLAN with a VLAN partition. Default: nothing is known of
    them."""
    pod_defaults: PodDefaults = PodDefaults()
    """What an equipped pod gets where it says nothing itself; the policy's podDefaults go before.
    Default: IPC_LOCK and 8Gi of shared memory."""


class Metadata(Shape):
    """The part of an object's metadata that we read."""

    name: str = ""
    namespace: str = ""
    generation: int = 0


def _not_reserved(name: str) -> str:
    if name == DEFAULT_NETWORK_WORD:
        message = f"{name} is the word for the policy's default network"
        raise ValueError(message)
    return name


class NetworkMetadata(Metadata):
    """Metadata of a network, whose name stands in annotations, labels and names."""

    name: Annotated[DnsLabel, AfterValidator(_not_reserved)]


class RDMANetwork(Shape):
    """A fabric and how a pod joins it (cluster-scoped).

    Pods ask for it by name in the annotation rdma.io/network, where the RDMAPolicy of their
    namespace grants it.
    """

    metadata: NetworkMetadata
    spec: NetworkSpec
    """What the fabric is made of and how a pod joins it; written by the platform admin."""


__all__ = ["Isolation", "Metadata", "Mode", "NetworkSpec", "NumberRange", "RDMANetwork", "Rail"]
