"""Counts that follow objects one by one."""

from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from policies.overlay import Overlay
from policies.tally import Counts, count
from tests.harness.budgets import small

NOTHING: Map[int, Counts] = Map()
SAID = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab")), max_size=12)


@small
@given(said=SAID, taken_back=SAID)
def test_what_is_taken_back_was_never_said(
    said: list[tuple[int, str]], taken_back: list[tuple[int, str]]
) -> None:
    """Whoever says the same is counted apart, and nothing is left where nobody says it."""
    tally = Overlay(NOTHING)
    for key, whom in said:
        count(tally, key, whom, 1)
    base = tally.finished()
    assert {key: dict(one) for key, one in base.items()} == {
        key: {whom: said.count((key, whom)) for other, whom in said if other == key}
        for key, _ in said
    }
    later = Overlay(base)
    for key, whom in taken_back:
        count(later, key, whom, 1)
    for key, whom in reversed(taken_back):
        count(later, key, whom, -1)
    assert later.finished() is base
