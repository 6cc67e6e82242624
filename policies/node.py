"""The part of a Node that we read: which governed resources its device plugins advertise."""

from collections.abc import Mapping
from sys import intern
from typing import Any

from policies.quantity import whole
from policies.rules import Rules


def read(node: Mapping[str, Any], rules: Rules) -> frozenset[str]:
    """Return the governed extended resources of which a Node has some.

    Args:
        node: The object as the API serves it; of a file it may be odd, and then it has none.
        rules: Which resources are governed.
    """
    status = node.get("status")
    if not isinstance(status, Mapping):
        return frozenset()
    found = status.get("allocatable", status.get("capacity"))
    return frozenset(
        intern(str(name))
        for name, amount in (found if isinstance(found, Mapping) else {}).items()
        if isinstance(name, str) and rules.is_governed(name) and _is_some(amount)
    )


def _is_some(amount: object) -> bool:
    return isinstance(amount, str | int) and bool(whole(amount))
