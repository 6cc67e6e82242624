"""A bound on YAML aliases."""

import pytest

from webhook.watch.aliases import MOST_NODES, check
from webhook.watch.documents import parse
from webhook.watch.errors import UnreadableFile


def levels(number: int) -> str:
    """Return a text in which each line stands for ten of the line above."""
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, number)]
    return "\n".join(lines)


def test_few_lines_cannot_stand_for_billions_of_values() -> None:
    """The line at which it becomes too much is named, before anything is expanded."""
    with pytest.raises(UnreadableFile, match=f"line 6: aliases stand for more than {MOST_NODES:,}"):
        check(levels(9))


def test_an_alias_inside_of_itself_is_refused() -> None:
    """It has no end."""
    with pytest.raises(UnreadableFile, match="line 1: alias \\*a stands inside of itself"):
        check("a: &a [*a]")


@pytest.mark.parametrize("text", ["a: 1", levels(3), "a: &a 1\n---\nb: *a", "[*a", "a*b: c"])
def test_other_texts_are_left_to_who_reads_them(text: str) -> None:
    """A few aliases are no bomb, and what is no YAML is not our business."""
    check(text)


def test_a_file_of_objects_is_looked_at_first() -> None:
    """Whoever reads objects from a text is safe from it."""
    with pytest.raises(UnreadableFile, match="aliases stand for more"):
        parse(levels(9))


def test_lists_in_lists_have_an_end() -> None:
    """A list that is nested without end is one sentence, in JSON too."""
    deep = '{"kind":"List","apiVersion":"v1","items":[' * 900 + "]}" * 900
    with pytest.raises(UnreadableFile, match="nested too deep"):
        parse(deep, is_json=True)
