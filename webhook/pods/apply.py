"""Applying our own operations, so that what does not apply is never sent.

Strict as the API server's library is (RFC 6902): parents must exist, ``replace`` needs a value.
Only the operations that ``patch.py`` writes are known.
"""

from collections.abc import Iterable
from typing import Any

from webhook.pods.errors import PatchDoesNotApply
from webhook.pods.patch import Op


def apply(ops: Iterable[Op], document: Any) -> None:  # noqa: ANN401 a JSON document
    """Apply operations to a document, in place.

    Args:
        ops: Operations in order.
        document: The decoded part of the pod; it is changed.

    Raises:
        PatchDoesNotApply: A parent or a value to replace is not there.
    """
    for op in ops:
        try:
            _apply(op, document)
        except (KeyError, IndexError, TypeError, ValueError) as err:
            message = f"{op.op} {op.path}: its place is not there ({err!r})"
            raise PatchDoesNotApply(message) from err


def _apply(op: Op, document: Any) -> None:  # noqa: ANN401
    parts = op.path.split("/")
    if "~" in op.path:
        parts = [part.replace("~1", "/").replace("~0", "~") for part in parts]
    parent = document
    for part in parts[1:-1]:
        parent = parent[int(part)] if type(parent) is list else parent[part]
    last = parts[-1]
    if type(parent) is list:
        if op.op == "add" and last == "-":
            parent.append(op.value)
            return
        if op.op == "add":
            raise ValueError(last)
        parent[int(last)] = op.value
        return
    if op.op == "replace" and last not in parent:
        raise KeyError(last)
    parent[last] = op.value
