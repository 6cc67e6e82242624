"""Pairs to try things with."""

from datetime import UTC, datetime, timedelta

import pytest

from certs.authority import make_authority
from certs.keypair import KeyPair

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


class Clock:
    """A moment that moves when the test says so."""

    def __init__(self) -> None:
        """Begin at a fixed moment."""
        self.now = NOW

    def __call__(self) -> datetime:
        """Return it."""
        return self.now

    def advance(self, by: timedelta) -> None:
        """Move it."""
        self.now += by


@pytest.fixture
def clock() -> Clock:
    """Return a clock that stands still."""
    return Clock()


@pytest.fixture(scope="session")
def authority() -> KeyPair:
    """Return an authority that is valid for years."""
    return make_authority("test", NOW)
