"""What a pod gets where it says nothing itself, and who goes before whom.

The policy goes before the network, the network named first before the others; capabilities to
drop and tolerations are united, and the largest shared memory wins (ADR 0002).
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from policies.quantity import parse
from policies.shapes import PodDefaults

Item = TypeVar("Item")

DEFAULT_CAPABILITIES = ("IPC_LOCK",)
"""Added where neither policy nor network says anything: verbs pin memory (ib_umem_get)."""
DEFAULT_SHARED_MEMORY = "8Gi"
"""Used where neither pod, policy nor network says a size; never unlimited (kubernetes#63126)."""


class Defaults(msgspec.Struct, frozen=True):
    """`PodDefaults` in compact form; None and absent keys mean "says nothing"."""

    add: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    shared_memory: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    hugepages: tuple[tuple[str, str], ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[dict[str, Any], ...] = ()


NOTHING = Defaults()


def read(shape: PodDefaults) -> Defaults:
    """Return the compact form of a CR's ``podDefaults``; equal to `NOTHING` where it is empty."""
    capabilities = shape.capabilities
    found = Defaults(
        add=capabilities.add if capabilities else None,
        drop=(capabilities.drop or ()) if capabilities else (),
        shared_memory=shape.shared_memory,
        env=tuple((var.name, var.value) for var in shape.env),
        hugepages=tuple(shape.hugepages.items()),
        node_selector=tuple(shape.node_selector.items()),
        tolerations=tuple(toleration.as_pod_field() for toleration in shape.tolerations),
    )
    return NOTHING if found == NOTHING else found


def over(policy: Defaults, network: Defaults) -> Defaults:
    """Return the policy's defaults laid over one network's."""
    if policy is NOTHING:
        return network
    return Defaults(
        add=policy.add if policy.add is not None else network.add,
        drop=united((policy.drop, network.drop)),
        shared_memory=policy.shared_memory or network.shared_memory,
        env=first_wins((policy.env, network.env)),
        hugepages=first_wins((policy.hugepages, network.hugepages)),
        node_selector=first_wins((policy.node_selector, network.node_selector)),
        tolerations=united((policy.tolerations, network.tolerations)),
    )


def beside(several: tuple[Defaults, ...]) -> Defaults:
    """Return the defaults of a pod on several networks, the first named first.

    Node selectors are kept side by side, so that a contradiction can be seen and refused.
    """
    if len(several) == 1:
        return several[0]
    says = any(one.add is not None for one in several)
    adds = [DEFAULT_CAPABILITIES if one.add is None else one.add for one in several]
    return Defaults(
        add=united(adds) if says else None,
        drop=united(one.drop for one in several),
        shared_memory=_largest_memory(several),
        env=first_wins(one.env for one in several),
        hugepages=first_wins(one.hugepages for one in several),
        node_selector=united(one.node_selector for one in several),
        tolerations=united(one.tolerations for one in several),
    )


def _largest_memory(several: tuple[Defaults, ...]) -> str | None:
    """Return the largest size; a network that says nothing beside others counts as the default."""
    if all(one.shared_memory is None for one in several):
        return None
    return largest(one.shared_memory or DEFAULT_SHARED_MEMORY for one in several)


def united(lists: Iterable[tuple[Item, ...]]) -> tuple[Item, ...]:
    """Return the items of several lists, each once, in order of first mention."""
    found: list[Item] = []
    for items in lists:
        found.extend(item for item in items if item not in found)
    return tuple(found)


def first_wins(
    lists: Iterable[tuple[tuple[str, str], ...]],
) -> tuple[tuple[str, str], ...]:
    """Return pairs of several lists; of one name the first mention counts."""
    found: dict[str, str] = {}
    for pairs in lists:
        for name, value in pairs:
            found.setdefault(name, value)
    return tuple(found.items())


def largest(sizes: Iterable[str | None]) -> str | None:
    """Return the largest of some quantities as it was written; None where none is given."""
    given = [size for size in sizes if size is not None]
    return max(given, key=lambda size: parse(size) or 0) if given else None
