"""How often the API server is asked."""

from tests.fakes.pace import FakePace
from webhook.control.allowance import Allowance


async def test_a_burst_is_free_and_the_rest_comes_evenly(fake_pace: FakePace) -> None:
    """After a pause the burst is there again, and no more than that."""
    allowance, start = Allowance(fake_pace.pace, per_second=8.0, burst=4), fake_pace.now
    for _ in range(4):
        await allowance.take()
    assert fake_pace.now == start
    for _ in range(16):
        await allowance.take()
    assert 1.9 < fake_pace.now - start < 2.1
    fake_pace.now += 3600
    naps = len(fake_pace.naps)
    for _ in range(4):
        await allowance.take()
    assert len(fake_pace.naps) == naps
    await allowance.take()
    assert len(fake_pace.naps) == naps + 1
