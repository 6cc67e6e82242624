"""JSON that is nested deeper than any decoder goes: read all the same, without what is so deep.

An object may hold free-form fields, and the API server stores them as deep as they come; one such
object must not keep all others from being read.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar

Result = TypeVar("Result")

MOST_LEVELS: Final = 100
"""Levels that are kept; objects of ours, and NADs, have some ten."""
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)
_OPENING: Final = frozenset(b"[{")
_CLOSING: Final = frozenset(b"]}")


def decoded(decode: Callable[[bytes], Result], text: bytes) -> Result:
    """Return what a decoder makes of a text; of one that is too deep for it, of its upper levels.

    Args:
        decode: Raises RecursionError where a text is too deep for it.
        text: JSON.
    """
    try:
        return decode(text)
    except RecursionError:
        return decode(shallow(text))


def shallow(text: bytes) -> bytes:
    """Return JSON with ``null`` in place of all that is below the levels that are kept."""
    kept: list[bytes] = []
    depth = start = 0
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in _OPENING:
            depth += 1
            if depth == MOST_LEVELS + 1:
                kept.append(text[start : token.start()])
        elif first in _CLOSING:
            if depth == MOST_LEVELS + 1:
                kept.append(b"null")
                start = token.end()
            depth -= 1
    return b"".join([*kept, text[start:]])
