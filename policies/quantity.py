"""Kubernetes quantities: ``8Gi``, ``500m``, ``1e3`` as exact numbers.

Source: kubernetes/apimachinery ``pkg/api/resource/quantity.go`` (grammar, suffixes).
"""

import re
from decimal import Context, Decimal
from functools import lru_cache
from math import isfinite

_GRAMMAR = re.compile(
    r"[+-]?(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)(?P<suffix>[eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i)?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
MAX_INT64 = 2**63 - 1
"""Largest value of a quantity (apimachinery caps it there)."""
_LONGEST = 64
"""Longer texts are no quantities; the API server's own printing stays far below."""
_EXACT = Context(prec=2 * _LONGEST)
"""Room for every digit of the longest text times the largest suffix, so that nothing is rounded."""


def parse(text: str) -> Decimal | None:
    """Return the exact value of a quantity, or None where the text is none.

    Args:
        text: As in a pod: ``8Gi``, ``1.5``, ``500m``, ``2e3``.
    """
    return _parsed(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Decimal | None:
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        return None
    digits, suffix = match["digits"], match["suffix"] or ""
    value = Decimal("-" + digits if text.startswith("-") else digits)
    if suffix in _BINARY:
        return _EXACT.multiply(value, Decimal(1 << _BINARY[suffix]))
    if suffix in _DECIMAL:
        return _EXACT.scaleb(value, _DECIMAL[suffix])
    return _EXACT.scaleb(value, int(suffix[1:])) if suffix else value


def whole(value: str | float | None) -> int | None:
    """Return a quantity as a whole number that is not negative, or None where it is none.

    Args:
        value: A quantity of a resource list; JSON allows a number in place of the text.

    Extended resources are whole numbers only (kubernetes documentation, "Extended resources").
    """
    if isinstance(value, str):
        number = parse(value)
    elif isinstance(value, bool) or value is None or not isfinite(value):
        return None
    else:
        number = Decimal(value)
    if number is None or number != number.to_integral_value() or not 0 <= number <= MAX_INT64:
        return None
    return int(number)
