"""``RDMANetwork``: a fabric and how a pod joins it. Same shape as the CRD, field for field."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictInt

from policies.names import DEFAULT_NETWORK_WORD
from policies.shapes import (
    MAX_LIST,
    MAX_RAILS,
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
    """The partition numbers that tenants of this network may get."""

    type: PartitionType
    """VLAN (Ethernet) or PKey (InfiniBand); immutable."""
    min: Annotated[StrictInt, Field(ge=1, le=0x7FFE)] | None = None
    """Smallest number; VLAN 1 to 4094, PKey 0x0001 to 0x7ffe without the membership bit 0x8000."""
    max: Annotated[StrictInt, Field(ge=1, le=0x7FFE)] | None = None
    """Largest number."""


class NetworkAttachment(Shape):
    """A NetworkAttachmentDefinition that an admin wrote."""

    namespace: DnsLabel | None = None
    """Its namespace; absent means the pod's own."""
    name: DnsName
    """Its name."""


class Rail(Shape):
    """One east-west NIC of a node, or one pool of its virtual functions."""

    name: Annotated[DnsLabel, Field(max_length=32)]
    """Name of the rail, unique in the network."""
    resource_name: QualifiedName | None = None
    """Extended resource of the device plugin, prefix/name."""
    device_class_name: DnsName | None = None
    """DeviceClass, for mode DRA."""
    master: InterfaceName | None = None
    """Host interface of macvlan, ipvlan or ipoib; $(VLAN) stands for the tenant's number."""
    alt_names: Annotated[tuple[InterfaceName, ...], Field(max_length=16)] = ()
    """Other names of that interface on the nodes."""
    hca: InterfaceName | None = None
    """RDMA device as verbs name it (mlx5_0)."""
    network_attachment: NetworkAttachment | None = None
    """An admin's own NetworkAttachmentDefinition, used in place of the one named after the rail."""


class NetworkSpec(Shape):
    """A fabric and how a pod joins it."""

    mode: Mode
    """How a pod joins the fabric; immutable."""
    fabric: DnsLabel | None = None
    """Partition numbers are unique within a fabric; default: the network's name; immutable."""
    partition: NumberRange | None = None
    """The partition numbers that tenants may get; absent: the network carries no partition."""
    rails: Annotated[tuple[Rail, ...], Field(min_length=1, max_length=MAX_RAILS)] = Field(
        json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """The NICs or pools, in the order in which attachments are dealt over them."""
    count: Positive | Literal["All"] | None = None
    """What NAME without COUNT means: All (one a rail, the default) or a number."""
    per_accelerator: Positive | None = None
    """Devices for each accelerator of the pod, in place of count."""
    template: Annotated[dict[str, Any], Field(max_length=MAX_LIST)] | None = Field(
        default=None, json_schema_extra={"x-kubernetes-preserve-unknown-fields": True}
    )
    """Extra CNI keys of rendered NetworkAttachmentDefinitions: ipam, mtu, vlanQoS, …"""
    host_interfaces: Literal["PreCreated"] | None = None
    """PreCreated: every node has the VLAN sub-interfaces of the whole range."""
    pod_defaults: PodDefaults = PodDefaults()
    """What an equipped pod gets where it says nothing itself."""


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
    """A fabric (cluster-scoped) and how a pod joins it."""

    metadata: NetworkMetadata
    spec: NetworkSpec


__all__ = ["Isolation", "Metadata", "Mode", "NetworkSpec", "NumberRange", "RDMANetwork", "Rail"]
