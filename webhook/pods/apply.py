"""Applying our own operations, so that what does not apply is never sent.

Strict as the API server's library is (RFC 6902): parents must exist, ``replace`` needs a value.
Only the operations that ``patch.py`` writes are known.
"""

from collections.abc import Iterable
from typing import Any

from webhook.pods.errors import PatchDoesNotApply
from webhook.pods.patch import Op


def apply(ops: Iterable[Op], document: Any) -> Any:  # noqa: ANN401 a JSON document
    """Return a document after some operations; maps and lists on their paths are copied.

    Args:
        ops: Operations in order.
        document: The decoded part of the pod; it is not changed.

    Raises:
        PatchDoesNotApply: A parent or a value to replace is not there.
    """
    fresh = _copied(document)
    own: dict[str, Any] = {"": fresh}
    for op in ops:
        head, _, last = op.path.rpartition("/")
        try:
            if _write(_owned(head, own), _unescaped(last), op):
                own = {"": fresh}
        except (KeyError, IndexError, TypeError, ValueError) as err:
            message = f"{op.op} {op.path}: its place is not there ({err!r})"
            raise PatchDoesNotApply(message) from err
    return fresh


def _owned(path: str, own: dict[str, Any]) -> Any:  # noqa: ANN401 a JSON document
    """Return the map or list at a path as our own copy, in a parent that is our own."""
    found = own.get(path)
    if found is None:
        parent_path, _, last = path.rpartition("/")
        parent = _owned(parent_path, own)
        key: Any = int(last) if type(parent) is list else _unescaped(last)
        found = own[path] = parent[key] = _copied(parent[key])
    return found


def _copied(value: Any) -> Any:  # noqa: ANN401 a JSON document
    if type(value) is dict:
        return dict(value)
    if type(value) is list:
        return list(value)
    raise TypeError(type(value).__name__)


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
