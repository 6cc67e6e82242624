"""``RDMAPolicy``: what one tenant may have. Same shape as the CRD, field for field."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StrictBool, StrictInt

from policies.network import Metadata
from policies.shapes import (
    MAX_LIST,
    MAX_NETWORKS,
    MAX_PARTITIONS,
    Capability,
    DnsLabel,
    EnvVar,
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
    """One partition of a network that this tenant may use."""

    name: DnsLabel
    """Name of the partition, unique in this entry; main is the one used by default."""
    number: Annotated[StrictInt, Field(ge=1, le=0xFFFF)] | None = None
    """VLAN or PKey; absent: one is allocated."""


class NetworkGrant(Shape):
    """One network that this tenant may use."""

    name: DnsLabel
    """Name of the RDMANetwork."""
    max_per_pod: Positive | None = None
    """Most attachments (or tokens) of this network in one pod."""
    quota: Annotated[StrictInt, Field(ge=0, le=1_000_000)] | None = None
    """Most attachments (or tokens) of this network in the namespace, per rail."""
    partitions: Annotated[tuple[PartitionGrant, ...], Field(max_length=MAX_PARTITIONS)] = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """The tenant's partitions on this network; with several, pods choose by annotation."""


class SharedMemoryLimit(Shape):
    """Bound on /dev/shm."""

    max: Quantity
    """Largest size a pod may ask for."""


class PodLimits(Shape):
    """What pods of this tenant may not exceed."""

    capabilities: Annotated[tuple[Capability, ...], Field(max_length=MAX_LIST)] = ("IPC_LOCK",)
    """Capabilities that may be added."""
    shared_memory: SharedMemoryLimit | None = None
    """Bound on /dev/shm."""
    env: Annotated[tuple[EnvVar, ...], Field(max_length=MAX_LIST)] = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """Variables that always have these values: against accidents, not a fence."""
    host_network: StrictBool = False
    """Whether pods may use the host's network; a HostNetwork network needs it."""
    privileged: StrictBool = False
    """Whether containers may be privileged."""
    host_paths: Annotated[
        tuple[Annotated[str, Field(max_length=4096, pattern=r"^/")], ...],
        Field(max_length=MAX_LIST),
    ] = ()
    """hostPath volumes allowed: exact paths, or path/* for anything below, read-only."""
    required_drop: Annotated[tuple[Capability, ...], Field(max_length=MAX_LIST)] = ()
    """Capabilities that every container of a pod on a network must drop; ALL counts."""
    pod_security_conflict: PodSecurityConflict = PodSecurityConflict.DENY
    """What to do where the namespace's Pod Security level forbids a capability we would add."""


class PolicySpec(Shape):
    """What one tenant may have."""

    tenant: Annotated[str, Field(max_length=63, pattern=r"^[^/\s]+$")] | None = None
    """Namespaces of one tenant share its partitions; default: the namespace alone."""
    enforcement: Enforcement = Enforcement.WARN
    """What becomes of a pod that oversteps its own rights."""
    default_network: DnsLabel | None = None
    """The network that the word default in rdma.io/network means."""
    networks: Annotated[tuple[NetworkGrant, ...], Field(max_length=MAX_NETWORKS)] = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """The networks that this tenant may use."""
    pod_defaults: PodDefaults = PodDefaults()
    """Defaults that go before the network's."""
    pod_limits: PodLimits = PodLimits()
    """What pods of this tenant may not exceed."""
    raw_networks: RawNetworks = RawNetworks.DENY
    """Whether pods may select governed NetworkAttachmentDefinitions by hand."""
    minimum_isolation: Isolation = Isolation.NONE
    """The weakest isolation that pods of this tenant may run on."""


class RDMAPolicy(Shape):
    """What one tenant may have (namespaced, always named default)."""

    metadata: Metadata
    spec: PolicySpec
