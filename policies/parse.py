"""Values from raw objects, with one sentence for what does not fit or is not known."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from policies.errors import InvalidObject
from policies.refusal import cleaned, listed, quoted
from policies.shapes import Shape

Model = TypeVar("Model", bound=Shape)

MOST_UNKNOWN = 16
"""Most unknown fields that are named of one object."""
_LONGEST_KEY = 63
_SAID = frozenset(("missing", "value_error"))
"""Problems whose value is absent, or in the sentence already."""
_OF_EVERY_OBJECT = frozenset(("apiVersion", "kind", "metadata", "status"))


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
        path = ".".join(str(part) for part in first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        problem = problem if first["type"] == "value_error" else problem[0].lower() + problem[1:]
        got = "" if first["type"] in _SAID else f": got {quoted(str(first['input']))}"
        message = ": ".join(filter(None, (title(model.__name__, raw), path, f"{problem}{got}")))
        raise InvalidObject(message) from err


def unknown_fields(model: type[Shape], raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each key that a model does not know, with the nearest one it knows.

    Args:
        model: `RDMANetwork`, `RDMAPolicy` or `RDMAPartition`.
        raw: The object as written. Only what the API serves as a field counts: the API server
            drops ``resource_name``. Maps whose keys are free (``template``, ``nodeSelector``,
            ``hugepages``) are not looked into, nor are metadata and status.
    """
    own = {key: value for key, value in raw.items() if key not in _OF_EVERY_OBJECT}
    name = title(model.__name__, raw)
    return tuple(
        f"{cleaned(name)}: {path}: no such field, so it is ignored; {remedy}"
        for path, remedy in islice(_unknown(model, own, ""), MOST_UNKNOWN)
    )


def _unknown(model: type[Shape], raw: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield path and remedy of each unknown key, entries of lists by name where they have one."""
    fields = _fields(model)
    for key, value in raw.items():
        here = f"{path}{cleaned(str(key), _LONGEST_KEY)}"
        if key not in fields:
            yield here, _remedy(str(key), tuple(fields))
            continue
        below = fields[key]
        if below is None:
            continue
        if isinstance(value, Mapping):
            yield from _unknown(below, value, f"{here}.")
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, Mapping):
                called = cleaned(str(item.get("name") or index), _LONGEST_KEY)
                yield from _unknown(below, item, f"{here}[{called}].")


def _remedy(key: str, known: tuple[str, ...]) -> str:
    lowered = {name.lower(): name for name in known}
    near = get_close_matches(key[:_LONGEST_KEY].lower(), lowered, n=1)
    return f"did you mean {lowered[near[0]]}?" if near else f"known here: {listed(known, 16)}"


@cache
def _fields(model: type[Shape]) -> dict[str, type[Shape] | None]:
    """Return each field of a model by its name in the API, with the model of what it holds."""
    return {
        info.alias or name: _shape_in(info.annotation) for name, info in model.model_fields.items()
    }


def _shape_in(annotation: Any) -> type[Shape] | None:  # noqa: ANN401 a type, however written
    """Return the model in a field's type: of `tuple[Rail, ...] | None` it is `Rail`."""
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        return annotation
    return next(filter(None, map(_shape_in, get_args(annotation))), None)


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
