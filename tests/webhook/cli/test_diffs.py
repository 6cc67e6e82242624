"""Differences of objects, and their colours."""

import io

import pytest

from webhook.cli.colours import Painter, painter
from webhook.cli.diffs import MOST_LINES, as_yaml, diff

PLAIN = Painter(colours=False)


def test_a_difference_is_a_unified_diff_of_the_yaml() -> None:
    """Changed places with their surroundings."""
    before = {"a": 1, "text": "x\ny\n"}
    assert list(diff(before, {**before, "b": [2]}, PLAIN)) == [
        "--- before",
        "+++ after",
        "@@ -2,3 +2,5 @@",
        " text: |",
        "   x",
        "   y",
        "+b:",
        "+- 2",
    ]


def test_equal_objects_have_no_difference() -> None:
    """Nothing is printed."""
    assert list(diff({"a": 1}, {"a": 1}, PLAIN)) == []


def test_shared_parts_are_written_out() -> None:
    """No anchors appear in what people are shown."""
    shared = {"k": "v"}
    assert as_yaml({"a": shared, "b": shared}) == "a:\n  k: v\nb:\n  k: v\n"


def test_a_huge_object_is_not_compared() -> None:
    """One line says why."""
    (line,) = diff([], list(range(MOST_LINES + 1)), PLAIN)
    assert "-o patch shows what changes" in line


def test_colours_tell_added_from_removed() -> None:
    """Green and red, the place in cyan."""
    lines = list(diff({"a": 1}, {"a": 2}, Painter(colours=True)))
    assert lines[2:] == [
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        "\x1b[31m-a: 1\x1b[0m",
        "\x1b[32m+a: 2\x1b[0m",
    ]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
    ids=["a terminal", "NO_COLOR", "a dumb terminal", "an empty NO_COLOR"],
)
def test_a_terminal_gets_colour_unless_it_says_no(
    environment: dict[str, str],
    coloured: bool,  # noqa: FBT001 - a row of the table
) -> None:
    """As no-color.org asks."""
    assert ("\x1b" in painter("auto", _Terminal(), environment)("red", "x")) == coloured
    assert painter("auto", io.StringIO(), environment)("red", "x") == "x"
