"""``RDMAPolicy``: what one tenant may have. Same shape as the CRD, field for field."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StrictBool, StrictInt

from policies.network import Metadata
from policies.shapes import (
    DISTINCT,
    MAX_LIST,
    MAX_NETWORKS,
    MAX_PARTITIONS,
    PKEY_BITS,
    WHOLE,
    CapabilitySet,
    DnsLabel,
    EnvVars,
    Isolation,
    PodDefaults,
    Positive,
    Quantity,
    Shape,
)


class Enforcement(StrEnum):
    """What becomes of a pod that oversteps its own rights."""

    ENFORCE = "Enforce"
    WARN = "Warn"
    AUDIT = "Audit"


class RawNetworks(StrEnum):
    """Whether pods may select governed NetworkAttachmentDefinitions by hand."""

    DENY = "Deny"
    ALLOW = "Allow"


class PodSecurityConflict(StrEnum):
    """What to do where the namespace's Pod Security level forbids a capability we would add."""

    DENY = "Deny"
    OMIT_CAPABILITIES = "OmitCapabilities"


class PartitionGrant(Shape):
    """One partition of a network that a tenant may use."""

    name: DnsLabel
    """Name by which pods choose the partition, unique in this entry; main is used where a pod
    chooses none. Required."""
    number: Annotated[StrictInt, Field(ge=1, le=PKEY_BITS), WHOLE] | None = None
    """The VLAN (1 to 4094) or PKey (0x0001 to 0x7ffe, without the membership bit 0x8000), as an
    integer: 210 or 0x0011, without quotes. Absent: one is allocated from the network's range."""


class NetworkGrant(Shape):
    """One network that a tenant may use."""

    name: DnsLabel
    """Name of the RDMANetwork, such as train-ib. Required."""
    max_per_pod: Positive | None = None
    """Most attachments (or tokens, or devices) of this network in one pod, 1 to 1024. Default:
    unbounded."""
    quota: Annotated[StrictInt, Field(ge=0, le=1_000_000), WHOLE] | None = None
    """Most attachments (or tokens, or devices) of this network in the namespace at one time,
    counted on each rail by itself, 0 to 1000000. Default: unbounded."""
    partitions: Annotated[tuple[PartitionGrant, ...], Field(max_length=MAX_PARTITIONS)] = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """The tenant's partitions on this network, at most 16; with several, pods choose by the
    annotation rdma.io/partition. For networks with spec.partition only. Two field managers may own
    different partitions. Default: none."""


class SharedMemoryLimit(Shape):
    """Bound on /dev/shm."""

    max: Quantity
    """Largest size of /dev/shm in bytes, such as 64Gi; a pod that asks for more is refused, a
    default above is cut. Required."""


HostPath = Annotated[
    str,
    Field(
        max_length=4096,
        pattern=r"^/",
        description="One path as the kernel resolves it, such as /data, or /data/* for anything "
        "below it, which is then mounted read-only.",
    ),
]


class PodLimits(Shape):
    """What pods of a tenant may not exceed."""

    capabilities: CapabilitySet = ("IPC_LOCK",)
    """Linux capabilities that containers may add, and that networks may add to them; [] allows
    none. Default: IPC_LOCK."""
    shared_memory: SharedMemoryLimit | None = None
    """Bound on /dev/shm. Default: unbounded."""
    env: EnvVars = Field(default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]})
    """Environment variables that always have these values in equipped containers, whatever the pod
    says: against accidents, not a fence. Two field managers may own different variables. Default:
    none."""
    host_network: StrictBool = False
    """Whether pods may use the node's network; needed beside the grant of a network of mode
    HostNetwork. Default: false."""
    privileged: StrictBool = False
    """Whether containers may be privileged, which ends all isolation. Default: false."""
    host_paths: Annotated[tuple[HostPath, ...], Field(max_length=MAX_LIST), DISTINCT] = ()
    """hostPath volumes that pods may mount: exact paths, or PATH/* for anything below it if every
    such mount is read-only. Default: none."""
    required_drop: CapabilitySet = ()
    """Linux capabilities that every container of a pod on a network must drop, such as NET_RAW on a
    shared NIC; ALL counts for each, and equipped pods drop them by themselves. Default: none."""
    pod_security_conflict: PodSecurityConflict = PodSecurityConflict.DENY
    """What to do where the namespace's Pod Security level forbids a capability that a network adds:
    Deny refuses the pod, OmitCapabilities leaves the capability out, and nodes then need an
    unlimited memlock. Default: Deny."""


class PolicySpec(Shape):
    """What one tenant may have; written by the platform admin."""

    tenant: Annotated[str, Field(min_length=1, max_length=63, pattern=r"^\S+$")] | None = None
    """Name of the tenant, such as acme, without slash: namespaces of one tenant share its
    partitions. Default: the namespace is a tenant of its own, namespace/NAME."""
    enforcement: Enforcement = Enforcement.WARN
    """What becomes of a pod that oversteps its own rights (counts, limits, networks by hand):
    Enforce refuses it, Warn admits it with a warning, Audit with an entry in the audit log. Pods
    are equipped alike. Default: Warn."""
    default_network: DnsLabel | None = None
    """The network, one of networks, that the word default means in a pod's annotation
    rdma.io/network. Default: none, and the word is refused."""
    networks: Annotated[tuple[NetworkGrant, ...], Field(max_length=MAX_NETWORKS)] = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """The networks that this tenant may use, at most 16. Two field managers may own different
    entries. Default: none."""
    pod_defaults: PodDefaults = PodDefaults()
    """What an equipped pod gets where it says nothing itself; goes before the network's, and stays
    within podLimits. Default: what the networks say."""
    pod_limits: PodLimits = PodLimits()
    """What pods of this tenant may not exceed. Default: IPC_LOCK may be added, nothing else."""
    raw_networks: RawNetworks = RawNetworks.DENY
    """Whether pods may select NetworkAttachmentDefinitions of fabrics by hand, in the annotation
    k8s.v1.cni.cncf.io/networks: Deny, or Allow within the networks granted here. Default: Deny."""
    minimum_isolation: Isolation = Isolation.NONE
    """The weakest isolation of a network that pods of this tenant may run on: None, Soft (frames
    are kept apart, the device is shared) or Hard (the fabric keeps tenants apart). Default: None.
    """


class RDMAPolicy(Shape):
    """What one tenant may have: the networks, partitions and limits of one namespace's pods.

    Exactly one in a namespace, named default; without it the namespace has no RDMA.
    """

    metadata: Metadata
    spec: PolicySpec
    """What this tenant may have; written by the platform admin."""
