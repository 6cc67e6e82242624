"""How long we stay away after failures."""

from tests.fakes.pace import FakePace
from webhook.apiserver.pace import PATIENCE_SECONDS, Backoff


def test_jitter_is_full() -> None:
    """A wait may be anything from nothing to the ceiling, so that replicas spread."""
    lucky, unlucky = FakePace(share=0.0), FakePace(share=1.0)
    assert Backoff(lucky.pace).next() == 0.0
    assert Backoff(unlucky.pace).next() == 0.5


def test_a_healthy_minute_forgives() -> None:
    """After a connection of a minute the next failure is a first one."""
    backoff = Backoff(FakePace().pace)
    assert [backoff.next() for _ in range(3)] == [0.5, 1.0, 2.0]
    backoff.lived(59.0)
    assert backoff.next() == 4.0
    backoff.lived(60.0)
    assert backoff.next() == 0.5


def test_what_the_server_asks_for_is_the_least_and_bounded() -> None:
    """Retry-After is honoured, but nobody can send us away for ever."""
    backoff = Backoff(FakePace(share=0.0).pace)
    assert backoff.next(at_least=7.0) == 7.0
    assert backoff.next(at_least=1e9) == PATIENCE_SECONDS
