"""A bound on YAML aliases: a few lines can stand for billions of nodes, or for themselves.

Knows YAML events alone. Looked at before a file is read, since reading expands merge keys.
"""

import re
from typing import Final

import yaml

from webhook.watch.errors import UnreadableFile

MOST_NODES: Final = 1_000_000
"""A pod of 3 MiB, the largest that the API server takes, has some 300,000."""
_ALIAS: Final = re.compile(r"(?:^|[\s\[,:\-])\*[^\s*]", re.MULTILINE)
_Open = tuple[str | None, int]


def check(text: str) -> None:
    """Refuse a text whose aliases blow it up. Does nothing for one that is no YAML.

    Raises:
        UnreadableFile: The message names the line.
    """
    if not _ALIAS.search(text):
        return
    try:
        _count(text)
    except (yaml.YAMLError, RecursionError):
        return  # who reads the file says better what is wrong with it


def _count(text: str) -> None:
    """Add up the nodes, each alias as many as its anchor stands for."""
    total = 0
    sizes: dict[str, int] = {}
    opened: list[_Open] = []
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.DocumentStartEvent):
            sizes, opened = {}, []
        elif isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else 0
            if any(anchor == event.anchor for anchor, _ in opened):
                raise UnreadableFile(f"line {line}: alias *{event.anchor} stands inside of itself")
            total += sizes.get(event.anchor or "", 1)
            if total > MOST_NODES:
                raise UnreadableFile(
                    f"line {line}: aliases stand for more than {MOST_NODES:,} values"
                )
        elif isinstance(event, yaml.CollectionStartEvent):
            total += 1
            opened.append((event.anchor, total))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor:
                sizes[anchor] = total - before + 1
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
