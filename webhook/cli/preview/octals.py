"""Numbers that YAML reads as something else than they look like: ``0100`` is 64.

Knows the numeric fields of our own kinds, as text.
"""

import re
from collections.abc import Iterator
from typing import Final

_FIELDS: Final = "number|min|max|count|perAccelerator|maxPerPod|quota|generation"
_OCTAL: Final = re.compile(rf"\b({_FIELDS})[\"']?\s*:\s*(0[0-7]+)(?![\w.])")
MOST: Final = 8


def surprises(text: str) -> Iterator[str]:
    """Yield a sentence for each number with a leading zero, with its line."""
    if "rdma.io/" not in text:
        return
    found = 0
    for line, content in enumerate(text.splitlines(), start=1):
        for field, digits in _OCTAL.findall(content.partition(" #")[0]):
            found += 1
            if found > MOST:
                return
            yield (
                f"line {line}: {field}: {digits} is octal and means {int(digits, 8)}; "
                f"write {digits.lstrip('0') or '0'} or 0x…"
            )
