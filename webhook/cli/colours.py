"""Colour on a terminal, and nowhere else.

Knows ANSI's SGR sequences, ``NO_COLOR`` (no-color.org) and ``TERM=dumb``.
"""

from collections.abc import Mapping
from typing import Final, TextIO

CHOICES: Final = ("auto", "always", "never")
_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


class Painter:
    """Writes text in colour, or leaves it alone."""

    def __init__(self, *, colours: bool) -> None:
        """Decide once whether there is colour."""
        self._colours = colours

    def __call__(self, style: str, text: str) -> str:
        """Return text in one of the styles: bold, dim, red, green, yellow or cyan."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colours and text else text


def painter(choice: str, stream: TextIO, environment: Mapping[str, str]) -> Painter:
    """Return the painter that a ``--color`` choice means.

    Args:
        choice: auto, always or never; auto is colour where the stream is a terminal that has it
            and ``NO_COLOR`` is not set.
        stream: Where the text goes.
        environment: Variables of the process.
    """
    if choice != "auto":
        return Painter(colours=choice == "always")
    plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return Painter(colours=not plain and stream.isatty())
