"""What the files hold: every document as an object with its origin, and what cannot be read.

Knows files and standard input; the objects' content is judged elsewhere.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from webhook.cli.preview import octals
from webhook.watch.documents import Document, parse
from webhook.watch.errors import UnreadableFile

STDIN: Final = "-"
MAX_BYTES: Final = 32 * 1024 * 1024
"""Of one file: ten times the largest object that the API server takes."""


@dataclass(frozen=True, slots=True)
class Given:
    """One object of the files.

    Attributes:
        object: As written.
        origin: ``FILE: document N, line M``.
    """

    object: Mapping[str, Any]
    origin: str


@dataclass(slots=True)
class Reading:
    """Everything that was read.

    Attributes:
        objects: In the order of files and documents.
        problems: One sentence for each file that cannot be used.
        notes: What its author should know about a file that can.
    """

    objects: list[Given] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read(names: Sequence[str]) -> Reading:
    """Return the objects of all files; a file that cannot be read is a problem, no error.

    Args:
        names: Paths; ``-`` is standard input.
    """
    reading = Reading()
    for name in names:
        shown = "standard input" if name == STDIN else name
        try:
            text = _text(name)
            documents = _documents(text)
        except OSError as err:
            reading.problems.append(f"{shown}: cannot be read: {err.strerror or err}")
        except UnicodeDecodeError as err:
            reading.problems.append(f"{shown}: not UTF-8 at byte {err.start + 1}")
        except UnreadableFile as err:
            reading.problems.append(f"{shown}: {err}")
        else:
            if not documents:
                reading.problems.append(f"{shown}: holds no object")
            reading.notes += [f"{shown}: {one}" for one in octals.surprises(text)]
            reading.objects += [Given(one.object, f"{shown}: {one.place}") for one in documents]
    return reading


def _text(name: str) -> str:
    if name == STDIN:
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UnreadableFile(f"is larger than {MAX_BYTES // 2**20} MiB")
    return content.decode("utf-8-sig")


def _documents(text: str) -> list[Document]:
    """Return the documents of a text: JSON where it is JSON, else YAML."""
    if text.lstrip()[:1] == "{":
        try:
            return parse(text, is_json=True)
        except UnreadableFile as err:
            if "not JSON" not in str(err):
                raise
    return parse(text)
