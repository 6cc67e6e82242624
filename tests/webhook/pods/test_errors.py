"""The errors of the room."""

import pytest

from webhook.pods.errors import InvalidSelection, PatchDoesNotApply, PodError


@pytest.mark.parametrize("kind", [InvalidSelection, PatchDoesNotApply])
def test_one_root_catches_all(kind: type[Exception]) -> None:
    """Who calls the room can catch all that it raises by one name."""
    assert issubclass(kind, PodError)


def test_the_root_has_no_parent_of_another_room() -> None:
    """Catching another room's errors never catches these."""
    assert PodError.__mro__[1:] == (Exception, BaseException, object)
