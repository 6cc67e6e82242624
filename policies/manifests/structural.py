"""Pydantic models as structural schemas: the subset of OpenAPI v3 that a CRD may hold.

Knows pydantic's JSON schema and Kubernetes' rules for structural schemas; knows no kind of ours.

Source: Kubernetes documentation, "Specifying a structural schema", and apiextensions-apiserver
``pkg/apiserver/schema`` (structural, defaulting, list types).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]
"""One node of an OpenAPI v3 schema, as JSON."""

_DROPPED = ("title", "const", "anyOf", "$ref", "default")
"""Keywords of pydantic that a structural schema spells in another way, or not at all."""
_MAP_KEYS = "x-kubernetes-list-map-keys"
_LIST_TYPE = "x-kubernetes-list-type"
_INT_OR_STRING = "x-kubernetes-int-or-string"


def structural(model: type[BaseModel]) -> Schema:
    """Return the structural schema of a model: references inlined, lists typed, defaults kept."""
    document = model.model_json_schema()
    return _node(document, document.get("$defs", {}))


def defaults(schema: Schema) -> dict[str, Any]:
    """Return what the API server stores for an empty object of a structural schema."""
    declared = {
        name: child for name, child in schema.get("properties", {}).items() if "default" in child
    }
    return {
        name: {**defaults(child), **child["default"]}
        if isinstance(child["default"], dict)
        else child["default"]
        for name, child in declared.items()
    }


def _node(raw: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Return one node in structural form, with everything below it."""
    merged = _merged(raw, definitions)
    node = {key: value for key, value in merged.items() if key not in {*_DROPPED, "$defs"}}
    if "const" in merged:
        node["enum"] = [merged["const"]]
    if "properties" in node:
        node["properties"] = {
            name: _node(child, definitions) for name, child in node["properties"].items()
        }
    if "items" in node:
        node["items"] = _node(node["items"], definitions)
        node[_LIST_TYPE] = _list_type(node)
    if "additionalProperties" in node:
        node |= _map_values(node.pop("additionalProperties"), definitions)
    if node.get(_INT_OR_STRING):
        _loosen(node)
    _set_default(node, merged.get("default"))
    return node


def _merged(raw: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Return a node with its reference and its one real alternative folded into it.

    What is said at the place (its description, its default) goes before what the target says.
    """
    target: Schema = {}
    if "$ref" in raw:
        target = _merged(definitions[raw["$ref"].rpartition("/")[2]], definitions)
    elif "anyOf" in raw:
        choices = [_merged(one, definitions) for one in raw["anyOf"] if one.get("type") != "null"]
        target = choices[0] if len(choices) == 1 else _number_or_word(choices)
    return {**target, **raw}


def _number_or_word(choices: list[Schema]) -> Schema:
    """Return the schema of a field that is a number or one fixed word.

    The word is a pattern, since an ``enum`` would have to list the numbers too.
    """
    number = next(one for one in choices if one["type"] == "integer")
    word = next(one["const"] for one in choices if "const" in one)
    bounds: Schema = {key: number[key] for key in ("minimum", "maximum") if key in number}
    return {**bounds, "pattern": f"^{word}$", "maxLength": len(word), _INT_OR_STRING: True}


def _list_type(node: Mapping[str, Any]) -> str:
    """Return how lists merge: entries by key, single values as a set, other objects as a whole."""
    if _MAP_KEYS in node:
        return "map"
    return "atomic" if node["items"].get("type") == "object" else "set"


def _map_values(values: Any, definitions: Mapping[str, Schema]) -> Schema:  # noqa: ANN401 - JSON
    """Return the keyword for a map's values; values of any shape need the node's own keyword."""
    return {"additionalProperties": _node(values, definitions)} if values is not True else {}


def _loosen(node: Schema) -> None:
    """Let a number stand for the text, as Kubernetes does for quantities."""
    node.pop("type", None)
    node["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    node.setdefault("minimum", 0)


def _set_default(node: Schema, default: object) -> None:
    """Write down a default that says something; of an object, the empty one over its fields'."""
    if isinstance(default, dict):
        if any("default" in child for child in node.get("properties", {}).values()):
            node["default"] = {}
    elif default or default is False:
        node["default"] = default
