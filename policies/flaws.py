"""What the API server refuses in an object that is usable all the same, for who reads files."""

from collections.abc import Iterator, Mapping
from typing import Any

from policies import accept_policy, partition
from policies.errors import InvalidObject
from policies.names import PARTITION, POLICY
from policies.parse import parse, title
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy


def of(kind: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each flaw of an object of ours; none of one that cannot be used.

    Args:
        kind: Of any object; only policies and partitions have flaws that are not problems.
        raw: The object as written.
    """
    try:
        return tuple(
            f"{title(kind, raw)}: {flaw}; the API server refuses it" for flaw in _flaws(kind, raw)
        )
    except InvalidObject:
        return ()


def _flaws(kind: str, raw: Mapping[str, Any]) -> Iterator[str]:
    if kind == POLICY:
        yield from accept_policy.flaws(parse(RDMAPolicy, raw).spec)
    elif kind == PARTITION:
        yield from partition.flaws(parse(RDMAPartition, raw))
