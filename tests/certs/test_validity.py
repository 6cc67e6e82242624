"""A pair at a moment."""

from datetime import timedelta

import pytest

from certs.authority import CLOCK_SKEW, sign_leaf
from certs.errors import OutOfValidity
from certs.keypair import KeyPair
from certs.validity import check, is_due
from tests.certs.conftest import NOW

LIFE = timedelta(days=3)


@pytest.fixture
def leaf(authority: KeyPair) -> KeyPair:
    """Return a leaf that is valid for three days."""
    return sign_leaf(authority, ["a"], NOW, LIFE)


def test_a_valid_pair_passes(leaf: KeyPair) -> None:
    """From its beginning until just before its end."""
    check(leaf, NOW)
    check(leaf, NOW - CLOCK_SKEW)
    check(leaf, NOW + LIFE - timedelta(seconds=1))


def test_an_expired_pair_is_said_with_its_end(leaf: KeyPair) -> None:
    """The sentence has the moment it ended."""
    with pytest.raises(OutOfValidity, match="a: certificate: expired at 2026-06-04T12:00:00Z"):
        check(leaf, NOW + LIFE, "a")


def test_a_pair_from_the_future_is_said_with_its_beginning(leaf: KeyPair) -> None:
    """A wrong clock is found by the same sentence."""
    with pytest.raises(OutOfValidity, match="begins at 2026-06-01T11:55:00Z"):
        check(leaf, NOW - timedelta(hours=1))


def test_renewal_is_due_at_two_thirds_of_life(leaf: KeyPair) -> None:
    """Early enough to fail for a third of its life."""
    assert not is_due(leaf, NOW + timedelta(days=1, hours=23))
    assert is_due(leaf, NOW + timedelta(days=2, hours=1))
