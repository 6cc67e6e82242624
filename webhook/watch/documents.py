"""YAML or JSON text to Kubernetes objects, each with its place. Pure.

Reads YAML as kubectl does: no dates, no base-60 numbers, no key twice.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from webhook.watch import aliases
from webhook.watch.errors import UnreadableFile

RE_INT: Final = re.compile(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$")
RE_FLOAT: Final = re.compile(
    r"^(?:[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
DROPPED_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("timestamp", "int", "float")
)


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file.

    Attributes:
        object: The object as written.
        place: ``document N, line M``, for messages.
    """

    object: Mapping[str, Any]
    place: str


class _Loader(yaml.CSafeLoader):
    """Reads scalars as kubectl does and refuses a key that is there twice."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own attribute
        first: [(tag, regexp) for tag, regexp in pairs if tag not in DROPPED_TAGS]
        for first, pairs in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        """Return the mapping, or raise where a key is written twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key {key.value!r} is there twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", RE_FLOAT, list("-+0123456789."))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", RE_INT, list("-+0123456789"))


def parse(text: str, *, is_json: bool = False) -> list[Document]:
    """Return the objects of a file, in order; items of lists one by one.

    Args:
        text: One or more YAML documents, or one JSON value.
        is_json: Which of the two.

    Raises:
        UnreadableFile: Not YAML or JSON, or a document is no Kubernetes object. The text names
            document and line.
    """
    if not is_json:
        aliases.check(text)
    found = _json_values(text) if is_json else _yaml_values(text)
    try:
        return [
            Document(one, place)
            for value, place in found
            if value is not None
            for one in _objects(value, place)
        ]
    except RecursionError as err:
        raise UnreadableFile("lists are nested too deep") from err


def _yaml_values(text: str) -> Iterator[tuple[object, str]]:
    """Yield each document's value and place."""
    number, line = 0, 1
    loader = _Loader(text)
    try:
        while True:
            number += 1
            node = loader.get_node() if loader.check_node() else None
            if node is None:
                return
            line = node.start_mark.line + 1
            yield loader.construct_document(node), f"document {number}, line {line}"
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        where = mark.line + 1 if mark else line
        raise UnreadableFile(f"document {number}, line {where}: not YAML: {err.problem}") from err
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        reason = " ".join(str(err).split())
        raise UnreadableFile(f"document {number}, line {line}: not YAML: {reason}") from err
    finally:
        loader.dispose()


def _json_values(text: str) -> Iterator[tuple[object, str]]:
    try:
        yield json.loads(text), "document 1, line 1"
    except json.JSONDecodeError as err:
        raise UnreadableFile(f"document 1, line {err.lineno}: not JSON: {err.msg}") from err
    except RecursionError as err:
        raise UnreadableFile("document 1, line 1: not JSON: nested too deep") from err


def _objects(value: object, place: str) -> Iterator[Mapping[str, Any]]:
    """Yield the object, or the items of a list of objects."""
    if not isinstance(value, dict):
        raise UnreadableFile(f"{place}: got a {type(value).__name__}, want a Kubernetes object")
    kind, items = value.get("kind"), value.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from _objects(item, f"{place}: items[{index}]")
        return
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    for path, text in (("apiVersion", value.get("apiVersion")), ("kind", kind)):
        if not (isinstance(text, str) and text):
            raise UnreadableFile(f"{place}: {path}: got {text!r}, want a text")
    if not (isinstance(name, str) and name) and not _is_named_later(metadata):
        raise UnreadableFile(f"{place}: {kind}: metadata.name: got {name!r}, want a text")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    if namespace is not None and not isinstance(namespace, str):
        message = f"{place}: {kind}: metadata.namespace: got {namespace!r}, want a text"
        raise UnreadableFile(message)
    yield value


def _is_named_later(metadata: object) -> bool:
    return isinstance(metadata, dict) and isinstance(metadata.get("generateName"), str)
