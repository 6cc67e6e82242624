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
        parts = op.path.split("/")
        parent = document
        for part in parts[1:-1]:
            parent = _child(parent, _unescaped(part), op)
        _write(parent, _unescaped(parts[-1]), op)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~") if "~" in part else part


def _child(parent: Any, part: str, op: Op) -> Any:  # noqa: ANN401
    if isinstance(parent, dict) and part in parent:
        return parent[part]
    if isinstance(parent, list) and part.isdigit() and int(part) < len(parent):
        return parent[int(part)]
    message = f"{op.op} {op.path}: {part} is not there"
    raise PatchDoesNotApply(message)


def _write(parent: Any, part: str, op: Op) -> None:  # noqa: ANN401
    if op.op == "replace":
        _child(parent, part, op)
    if isinstance(parent, dict):
        parent[part] = op.value
    elif isinstance(parent, list) and part == "-":
        parent.append(op.value)
    elif isinstance(parent, list) and op.op == "replace":
        parent[int(part)] = op.value
    else:
        message = f"{op.op} {op.path}: its parent is no object or list"
        raise PatchDoesNotApply(message)
