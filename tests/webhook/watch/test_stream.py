"""Lines and pages, without a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.apiserver.errors import BrokenAnswer
from webhook.watch.stream import Lines


@given(
    lines=st.lists(st.binary(min_size=1).filter(lambda one: b"\n" not in one and one.strip())),
    cuts=st.lists(st.integers(min_value=0, max_value=200)),
)
def test_lines_come_out_as_they_went_in(lines: list[bytes], cuts: list[int]) -> None:
    """However the stream is cut, the lines are the same."""
    whole = b"".join(line + b"\n" for line in lines)
    reader, found, start = Lines(), [], 0
    for cut in sorted({min(cut, len(whole)) for cut in cuts} | {len(whole)}):
        found += reader.feed(whole[start:cut])
        start = cut
    reader.finish()
    assert found == lines


def test_blank_lines_are_no_lines() -> None:
    """A server may send blank lines to keep a connection alive."""
    assert Lines().feed(b"\n \r\n{}\n\n") == [b"{}"]


def test_a_stream_that_ends_within_a_line_is_broken() -> None:
    """The rest of a line is never taken for a line."""
    reader = Lines()
    assert reader.feed(b'{"type"') == []
    with pytest.raises(BrokenAnswer, match="ended within a line"):
        reader.finish()


def test_a_line_above_the_limit_is_broken() -> None:
    """Memory is bounded by the limit, not by the server."""
    reader = Lines(limit=10)
    reader.feed(b"12345")
    with pytest.raises(BrokenAnswer, match="above 10 bytes"):
        reader.feed(b"678901")
