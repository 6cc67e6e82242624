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
    parents: dict[str, Any] = {"": document}
    for op in ops:
        head, _, last = op.path.rpartition("/")
        try:
            parent = parents.get(head)
            if parent is None:
                parent = parents[head] = _found(head, document)
            if _write(parent, _unescaped(last), op):
                parents = {"": document}
        except (KeyError, IndexError, TypeError, ValueError) as err:
            message = f"{op.op} {op.path}: its place is not there ({err!r})"
            raise PatchDoesNotApply(message) from err


def _found(path: str, document: Any) -> Any:  # noqa: ANN401 a JSON document
    parent = document
    for part in path.split("/")[1:]:
        parent = parent[int(part)] if type(parent) is list else parent[_unescaped(part)]
    return parent


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~") if "~" in part else part


def _write(parent: Any, last: str, op: Op) -> bool:  # noqa: ANN401 a JSON document
    """Write a value; return whether a map or list was there, which may be a parent seen before."""
    place: Any = last
    if type(parent) is list:
        if op.op == "add":
            if last != "-":
                raise ValueError(last)
            parent.append(op.value)
            return False
        place = int(last)
        old = parent[place]
    else:
        old = parent[last] if op.op == "replace" or last in parent else None
    parent[place] = op.value
    return isinstance(old, dict | list)
