"""JSON as Go's encoding/json reads it, so that we never see another object than Multus does.

Go matches keys regardless of letter case and lets the last one win; Python does neither. What
the two would read differently is refused here.

Source: Go's encoding/json (``fold.go``, ``decode.go``), used by Multus and every CNI plugin.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from policies.errors import AmbiguousJSON as AmbiguousJSON  # noqa: PLC0414 part of the interface


def loads(text: str, known: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401 JSON is anything
    """Return the JSON value of a text that Go and Python read alike.

    Args:
        text: One JSON document.
        known: Keys a reader looks for; the same key in another letter case is refused, at
            every level.

    Raises:
        AmbiguousJSON: Not JSON, a key twice (regardless of case), a known key in another case,
            NaN or Infinity, a number out of range, a lone surrogate, or nested too deep. The
            message holds the place.
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        return _unambiguous(items, known)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as err:
        message = f"not valid JSON: {err.msg} at character {err.pos + 1}"
        raise AmbiguousJSON(message) from err
    except UnicodeEncodeError as err:
        raise AmbiguousJSON("a string holds half of a surrogate pair") from err
    except ValueError as err:
        raise AmbiguousJSON("a number is out of range") from err
    except RecursionError as err:
        raise AmbiguousJSON("nested too deep") from err
    return value


def _refuse_constant(name: str) -> None:
    message = f"{name} is not JSON"
    raise AmbiguousJSON(message)


def _unambiguous(items: list[tuple[str, Any]], known: frozenset[str]) -> dict[str, Any]:
    """Return the object's pairs, or refuse keys that Go would read as another key."""
    found = dict(items)
    folded = {key.casefold() for key in found}
    if len(folded) != len(items):
        message = (
            f"key {_repeated([key for key, _ in items])!r} occurs twice (letter case is ignored)"
        )
        raise AmbiguousJSON(message)
    if known:
        refuse_variants(found, known)
    return found


def refuse_variants(found: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse an object that spells a known key in another letter case.

    Raises:
        AmbiguousJSON: Go would read a key of the object as one that Python does not see.
    """
    if found.keys() <= known:
        return
    spellings = _spellings(known)
    for key in found:
        right = spellings.get(key.casefold(), key)
        if right != key:
            message = f"key {key!r} is read as {right!r}: write it in that letter case"
            raise AmbiguousJSON(message)


def _repeated(keys: list[str]) -> str:
    """Return the last key that is there more than once: the one that Go would let win."""
    counts = Counter(key.casefold() for key in keys)
    return next(key for key in reversed(keys) if counts[key.casefold()] > 1)


_SPELLINGS: dict[frozenset[str], Mapping[str, str]] = {}


def _spellings(known: frozenset[str]) -> Mapping[str, str]:
    if known not in _SPELLINGS:
        _SPELLINGS[known] = {key.casefold(): key for key in known}
    return _SPELLINGS[known]
