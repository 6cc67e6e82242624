"""``RDMAPartition``: who holds which number. Same shape as the CRD, field for field."""

from typing import Annotated

from pydantic import Field, StrictInt

from policies.network import Metadata, NumberRange
from policies.shapes import DnsLabel, PartitionType, Shape

MEMBERSHIP_BIT = 0x8000
"""Top bit of a 16-bit PKey: full membership. Not part of a partition's number."""
DEFAULT_PKEY = 0x7FFF
"""Partition that every InfiniBand port is in; never a tenant's."""
PKEY_BITS = 0xFFFF
"""All sixteen bits of a PKey."""
MAX_VLAN = 4094


class PartitionSpec(Shape):
    """The claim of one tenant on one number of a fabric; immutable."""

    fabric: DnsLabel
    """The fabric in which the number is unique."""
    type: PartitionType
    """VLAN or PKey."""
    number: Annotated[StrictInt, Field(ge=1, le=0x7FFE)]
    """The number, without a PKey's membership bit."""
    tenant: Annotated[str, Field(min_length=1, max_length=127)]
    """Who holds it: a policy's tenant, or namespace/NAME."""
    partition: DnsLabel
    """The policy's name for it."""


class RDMAPartition(Shape):
    """Who holds which number (cluster-scoped)."""

    metadata: Metadata
    spec: PartitionSpec


def number_problem(kind: PartitionType, number: int) -> str | None:
    """Return why a partition number cannot be a tenant's, or None.

    Args:
        kind: VLAN or PKey.
        number: As written in a policy.

    Source: VLAN 0 is untagged and 4095 reserved (IEEE 802.1Q); PKey 0x0000 is invalid, 0x7fff is
    the default partition, 0x8000 the membership bit (InfiniBand specification, ib-kubernetes).
    """
    if kind is PartitionType.VLAN:
        return None if 1 <= number <= MAX_VLAN else f"VLAN {number} is out of range 1 to {MAX_VLAN}"
    bare = number & ~MEMBERSHIP_BIT
    if not 0 <= number <= PKEY_BITS or bare in {0, DEFAULT_PKEY}:
        return f"PKey 0x{number:04x} cannot be a tenant's: want 0x0001 to 0x7ffe"
    if number & MEMBERSHIP_BIT:
        return f"PKey 0x{number:04x}: 0x8000 is the membership bit; write 0x{bare:04x}"
    return None


def shown(kind: PartitionType, number: int) -> str:
    """Return a number as people write it: ``VLAN 210`` or ``PKey 0x0011``."""
    return f"VLAN {number}" if kind is PartitionType.VLAN else f"PKey 0x{number:04x}"


def misfit(network: str, wanted: NumberRange | None, number: int) -> str | None:
    """Return why a number cannot be one of a network's tenants, or None.

    Args:
        network: Its name, for the sentence.
        wanted: Its numbers; None where it carries no partition.
        number: As written in a policy.
    """
    if wanted is None:
        return f"RDMANetwork {network} carries no partition"
    problem = number_problem(wanted.type, number)
    is_vlan = wanted.type is PartitionType.VLAN
    low, high = wanted.min or 1, wanted.max or (MAX_VLAN if is_vlan else DEFAULT_PKEY - 1)
    if problem or low <= number <= high:
        return problem
    span = f"{low} to {high}" if is_vlan else f"0x{low:04x} to 0x{high:04x}"
    return f"{shown(wanted.type, number)} is outside RDMANetwork {network}'s range {span}"


def suffix(kind: PartitionType | None, number: int | None) -> str:
    """Return the last part of a rendered NAD's name: ``v0210``, ``p0011`` or ``none``."""
    if kind is None or number is None:
        return "none"
    return f"v{number:04d}" if kind is PartitionType.VLAN else f"p{number:04x}"
