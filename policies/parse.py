"""Values from raw objects, with one sentence for what does not fit."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from policies.errors import InvalidObject
from policies.refusal import quoted
from policies.shapes import Shape

Model = TypeVar("Model", bound=Shape)


def parse(model: type[Model], raw: Mapping[str, Any]) -> Model:
    """Return the custom resource that a raw object holds.

    Args:
        model: `RDMANetwork`, `RDMAPolicy` or `RDMAPartition`.
        raw: The object as the API serves it.

    Raises:
        InvalidObject: It does not fit; the message names object, path, problem and value.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as err:
        first = err.errors(include_url=False, include_context=False)[0]
        path = ".".join(str(part) for part in first["loc"]) or "object"
        problem = first["msg"][0].lower() + first["msg"][1:]
        got = "" if first["type"] == "missing" else f": got {quoted(str(first['input']))}"
        message = f"{title(model.__name__, raw)}: {path}: {problem}{got}"
        raise InvalidObject(message) from err


def title(kind: str, raw: Mapping[str, Any]) -> str:
    """Return how messages name an object: ``RDMAPolicy team-a/default``."""
    metadata = raw.get("metadata")
    if not isinstance(metadata, Mapping):
        return kind
    parts = [str(metadata[key]) for key in ("namespace", "name") if metadata.get(key)]
    return f"{kind} {'/'.join(parts)}"


def texts(found: object) -> dict[str, str]:
    """Return the entries of labels or annotations that are texts; none of anything else.

    Args:
        found: ``metadata.labels`` or ``metadata.annotations``; of a file it may be of any type.
    """
    if not isinstance(found, Mapping):
        return {}
    return {
        key: found[key] for key in found if isinstance(key, str) and isinstance(found[key], str)
    }
