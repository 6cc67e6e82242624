"""Annotations where no pod gets them: on a workload instead of its pod template, or as a label.

Pure; which keys are looked for is the caller's business.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from webhook.pods.templates import MAX_DEPTH, Object, Template, group_and_kind, templates
from webhook.pods.workloads import ANNOTATED_OWNERS

_MOST: Final = 32


@dataclass(frozen=True, slots=True)
class Stray:
    """One key that has no effect where it stands.

    Attributes:
        path: Where it stands, as ``metadata.annotations``.
        key: As written.
        value: As written.
        better: Where it would have an effect; empty where the object has no such place.
    """

    path: str
    key: str
    value: str
    better: str


def strays(found: Object, is_wanted: Callable[[str], bool]) -> tuple[Stray, ...]:
    """Return keys that an author meant for the pods and wrote elsewhere in the object.

    Args:
        found: One object.
        is_wanted: Whether a key is one of those to look for.
    """
    made = templates(found)
    effective = _effective(found, made)
    better = effective[0] if effective else ""
    seen: list[Stray] = []
    for path, key, value in _annotated(found):
        if len(seen) == _MOST:
            break
        if is_wanted(key) and path not in effective:
            seen.append(Stray(path, key, value, better))
    return tuple(seen)


def _effective(found: Object, made: tuple[Template, ...]) -> list[str]:
    """Return the paths of annotations that pods get."""
    if group_and_kind(found) in ANNOTATED_OWNERS:
        inline = [f"{one.path}.annotations" for one in made if not one.path.endswith("template")]
        return ["metadata.annotations", *inline]
    return [
        f"{one.path}.metadata.annotations" if one.path else "metadata.annotations" for one in made
    ]


def _annotated(found: Object) -> Iterator[tuple[str, str, str]]:
    """Yield path, key and value of every annotation and label, containers left out."""
    left: list[tuple[str, Object, int]] = [("", found, 0)]
    while left:
        path, node, depth = left.pop()
        for field in ("annotations", "labels"):
            pairs = node.get(field)
            for key, value in pairs.items() if isinstance(pairs, Mapping) else ():
                yield f"{path}.{field}", str(key), str(value)
        if depth < MAX_DEPTH:
            left += reversed([(*child, depth + 1) for child in _children(path, node)])


def _children(path: str, node: Object) -> Iterator[tuple[str, Object]]:
    for key, value in node.items():
        below = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and key not in {"annotations", "labels", "status"}:
            yield below, value
        elif isinstance(value, list) and key not in {
            "containers",
            "initContainers",
            "managedFields",
        }:
            for index, item in enumerate(value):
                if isinstance(item, Mapping):
                    called = item.get("name") or item.get("groupName") or index
                    yield f"{below}[{called}]", item
