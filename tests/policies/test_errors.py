"""The errors of the room."""

from policies.errors import AmbiguousJSON, InvalidObject, PolicyError


def test_every_error_of_the_room_has_one_root() -> None:
    """Who must act is the class; the root is no parent of another room's errors."""
    assert set(PolicyError.__subclasses__()) == {InvalidObject, AmbiguousJSON}
    assert PolicyError.__bases__ == (Exception,)
