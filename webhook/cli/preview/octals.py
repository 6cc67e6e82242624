"""Numbers that YAML reads as something else than they look like: ``0100`` is 64, ``1e3`` is 1000.

Kubectl converts them before the API server sees them, so only who reads the file can say so. Knows
how YAML spells numbers; of our kinds only their names.
"""

import re
from collections.abc import Iterator
from typing import Final

import yaml

from policies.names import GROUP, NETWORK, PARTITION, POLICY

MOST: Final = 8
_OURS: Final = frozenset({NETWORK, POLICY, PARTITION})
_SPELLINGS: Final = (
    ("is binary", re.compile(r"[-+]?0[bB][01_]+")),
    ("is octal", re.compile(r"[-+]?0[oO]?[0-7][0-7_]*")),
    ("has a leading zero", re.compile(r"[-+]?0[0-9][0-9_]*")),
    ("has an exponent", re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]{1,3}")),
    ("has underscores", re.compile(r"[-+]?(?:[1-9][0-9]*|0[xX][0-9a-fA-F]+)_[0-9a-fA-F_]*")),
)
"""How a number can be spelled that people read in another way (yaml.v2 ``resolve``, as kubectl)."""


def surprises(text: str) -> Iterator[str]:
    """Yield a sentence for each surprising number in the objects of ours, with its line.

    Args:
        text: A file that was read, so it is YAML, or JSON.
    """
    if f"{GROUP}/" not in text:
        return
    found = 0
    for line, field, written in _numbers(text):
        sentence = _surprise(written)
        if sentence:
            found += 1
            if found > MOST:
                return
            yield f"line {line}: {field}: {written} {sentence}"


def _surprise(written: str) -> str:
    """Return what a spelling is and means; empty where it is no surprise."""
    what = next((what for what, form in _SPELLINGS if form.fullmatch(written)), "")
    if not what:
        return ""
    value = _value(what, written)
    looks = written.lstrip("+-0") if what == "is octal" and written.lstrip("+-").isdigit() else ""
    if what == "is octal":
        return f"is octal and means {value}; write {looks or value} or 0x…"
    return f"{what} and means {value}; write {value}"


def _value(what: str, written: str) -> int | float:
    """Return what kubectl makes of a number."""
    plain = written.replace("_", "")
    if what == "is octal":
        return int(plain.lower().replace("o", ""), 8)
    if what == "has an exponent":
        number = float(plain)
        return int(number) if number.is_integer() else number
    return int(plain, 10 if what == "has a leading zero" else 0)


def _numbers(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, field and spelling of each unquoted scalar in the specs of our objects."""
    try:
        for document in yaml.compose_all(text, Loader=yaml.CSafeLoader):
            for one in _objects(document):
                yield from _scalars(_child(one, "spec"), "spec", set())
    except (yaml.YAMLError, RecursionError):  # JSON that YAML does not read, or a very deep one
        return


def _objects(node: yaml.Node | None) -> Iterator[yaml.MappingNode]:
    """Yield the objects of ours in a document, also in a list of objects."""
    if not isinstance(node, yaml.MappingNode):
        return
    kind, items = _child(node, "kind"), _child(node, "items")
    if isinstance(kind, yaml.ScalarNode) and kind.value in _OURS:
        yield node
    elif isinstance(items, yaml.SequenceNode):
        for item in items.value:
            yield from _objects(item)


def _child(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)


def _scalars(node: yaml.Node | None, field: str, seen: set[int]) -> Iterator[tuple[int, str, str]]:
    """Yield the unquoted scalars below a node, of what aliases repeat the first."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalars(value, str(key.value), seen)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _scalars(value, field, seen)
    elif isinstance(node, yaml.ScalarNode) and not node.style:
        yield node.start_mark.line + 1, field, node.value
