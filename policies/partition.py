"""``RDMAPartition``: who holds which number. Same shape as the CRD, field for field."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StrictInt, ValidationInfo, field_validator

from policies.network import Metadata, NumberRange
from policies.shapes import PKEY_BITS, WHOLE, DnsLabel, PartitionType, Shape

MEMBERSHIP_BIT = 0x8000
"""Top bit of a 16-bit PKey: full membership. Not part of a partition's number."""
DEFAULT_PKEY = 0x7FFF
"""Partition that every InfiniBand port is in; never a tenant's."""
MAX_VLAN = 4094
NAMESPACE_TENANT = r"^namespace/[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
"""A namespace that is a tenant of its own; the one form of a tenant that holds a slash."""


class PartitionSpec(Shape):
    """The claim of one tenant on one number of a fabric; immutable as a whole."""

    fabric: DnsLabel
    """The fabric in which the number has one holder, such as ib-a (spec.fabric of its networks).
    Required. Immutable, as all of a claim: delete it, and make another."""
    type: PartitionType
    """VLAN or PKey. Required. Immutable."""
    number: Annotated[StrictInt, Field(ge=1, le=PKEY_BITS), WHOLE]
    """The number as an integer: a VLAN from 1 to 4094, or a PKey from 0x0001 to 0x7ffe without the
    membership bit 0x8000. Required. Immutable."""
    tenant: Annotated[str, Field(min_length=1, max_length=127, pattern=r"^\S+$")]
    """Who holds the number: the tenant of an RDMAPolicy, such as acme, or namespace/NAME for a
    namespace whose policy names none. Required. Immutable."""
    partition: DnsLabel
    """The name of the partition in the tenant's policies, such as main. Required. Immutable."""

    @field_validator("number")
    @classmethod
    def _can_be_claimed(cls, number: int, info: ValidationInfo) -> int:
        kind = info.data.get("type")
        problem = number_problem(kind, number) if kind else None
        if problem:
            raise ValueError(problem)
        return number


class RDMAPartition(Shape):
    """Who holds which partition number of a fabric (cluster-scoped).

    Made by the controller, or by an admin to reserve a number; named
    FABRIC.vlan.NNNN (decimal) or FABRIC.pkey.NNNN (hexadecimal), so that a number has one holder.
    """

    metadata: Metadata
    spec: PartitionSpec
    """The claim: which tenant holds which number. Immutable: delete it, and make another."""


def flaws(claim: RDMAPartition) -> Iterator[str]:
    """Yield what the API server refuses in a claim, as path and problem.

    A claim in a file counts all the same: a number is never free because of how it is written.
    """
    spec = claim.spec
    wanted = claim_name(spec.fabric, spec.type, spec.number)
    if claim.metadata.name != wanted:
        yield f"metadata.name: want {wanted}, so that a number has one holder"
    if "/" in spec.tenant and not re.fullmatch(NAMESPACE_TENANT, spec.tenant):
        yield "spec.tenant: a tenant's name holds no slash, unless it is namespace/NAME"


def claim_name(fabric: str, kind: PartitionType, number: int) -> str:
    """Return the name of a claim: ``leaf-eth.vlan.0210`` or ``ib-a.pkey.0011``."""
    if kind is PartitionType.VLAN:
        return f"{fabric}.vlan.{number:04d}"
    return f"{fabric}.pkey.{number:04x}"


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
