"""Changes to a persistent map."""

from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from policies.overlay import Overlay
from tests.harness.budgets import small

KEYS = st.sampled_from("abcd")
MAPS = st.dictionaries(KEYS, st.integers(0, 2))
CHANGES = st.lists(st.tuples(KEYS, st.none() | st.integers(0, 2)), max_size=8)


@small
@given(base=MAPS, changes=CHANGES)
def test_it_is_the_map_with_the_changes(
    base: dict[str, int], changes: list[tuple[str, int | None]]
) -> None:
    """At every moment; the map itself stays, and where nothing is different it is the result."""
    before, expected = Map(base), dict(base)
    overlay = Overlay(before)
    for key, value in changes:
        if value is None:
            overlay.drop(key)
            expected.pop(key, None)
        else:
            overlay.put(key, value)
            expected[key] = value
    assert dict(overlay.items()) == expected
    assert sorted(overlay) == sorted(expected)
    assert sorted(overlay.values()) == sorted(expected.values())
    assert {key: overlay.get(key) for key in "abcd"} == {key: expected.get(key) for key in "abcd"}
    assert dict(overlay.finished()) == expected
    assert dict(before) == base
    assert (overlay.finished() is before) == (expected == base)
