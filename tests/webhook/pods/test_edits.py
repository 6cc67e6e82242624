"""The closed set of edits."""

from typing import get_args

import pytest

from webhook.pods import edits
from webhook.pods.edits import Edit, SetAnnotation


def test_the_set_is_closed() -> None:
    """Every edit of the file is in the union that ``patch.py`` must render, and no other thing."""
    written = {
        one
        for one in vars(edits).values()
        if isinstance(one, type) and one.__module__ == edits.__name__
    }
    assert set(get_args(Edit)) == written


@pytest.mark.parametrize("kind", get_args(Edit))
def test_an_edit_says_what_it_does_where_the_place_is_taken(kind: type) -> None:
    """Each docstring has the rule for a taken place, which ``patch.py`` follows."""
    words = ("kept", "once", "whatever it was", "keep it or replace it", "the same in")
    assert any(word in (kind.__doc__ or "") for word in words)


def test_edits_are_values() -> None:
    """Two edits that say the same are equal, and none can be changed."""
    one = SetAnnotation("a", "b")
    assert one == SetAnnotation("a", "b")
    with pytest.raises(AttributeError):
        one.key = "c"  # type: ignore[misc]
