"""Objects as YAML, and the difference of two of them as people read it.

Knows YAML and unified diffs; whether they come in colour is the painter's business.
"""

from collections.abc import Iterator
from difflib import unified_diff
from typing import Any, Final

import yaml

from webhook.cli.colours import Painter

CONTEXT: Final = 3
MOST_LINES: Final = 200_000
"""A longer object is shown without a diff: finding it takes too long."""


class _Plain(yaml.CSafeDumper):
    """Writes every value out in full, text of several lines as a block."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002 - PyYAML's signature
        return True


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Plain.add_representer(str, _text)


def as_yaml(value: Any) -> str:  # noqa: ANN401 any JSON value
    """Return a JSON value as one YAML document, keys in their own order."""
    return yaml.dump(value, Dumper=_Plain, sort_keys=False, width=2**16, allow_unicode=True)


def diff(before: Any, after: Any, paint: Painter) -> Iterator[str]:  # noqa: ANN401 as above
    """Yield the lines of the difference: changed places with some context, nothing if equal.

    Args:
        before: A JSON value.
        after: A JSON value.
        paint: Colours added, removed and place lines.
    """
    old, new = as_yaml(before).splitlines(), as_yaml(after).splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        yield paint("dim", f"(no diff of {len(new):,} lines; -o patch shows what changes)")
        return
    for line in unified_diff(old, new, "before", "after", n=CONTEXT, lineterm=""):
        if line.startswith(("+++", "---")):
            yield paint("bold", line)
        elif line.startswith("@@"):
            yield paint("cyan", line)
        elif line.startswith("+"):
            yield paint("green", line)
        elif line.startswith("-"):
            yield paint("red", line)
        else:
            yield line
