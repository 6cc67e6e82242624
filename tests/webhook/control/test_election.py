"""One leader among all replicas, whatever happens to them or to the Lease."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
from msgspec.structs import replace

from tests.fakes.eventually import eventually
from tests.fakes.lease import FakeLease
from tests.fakes.pace import FakePace
from webhook.apiserver.errors import CallFailed, Conflict
from webhook.control.election import Election
from webhook.control.lease import HOLD_SECONDS, Record


class Replica:
    """One replica that competes: how often it led, when it began and ended last."""

    def __init__(self, lease: FakeLease, name: str, pace: FakePace) -> None:
        """Join the parts."""
        self.election = Election(lease, name, pace.pace)  # type: ignore[arg-type]
        self.terms = 0
        self.works = False
        self.fails = False
        self.began = self.ended = 0.0
        self._pace = pace
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Compete from now on."""
        self._task = asyncio.create_task(self.election.run(self._work))

    async def stop(self) -> None:
        """End as the service does."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _work(self) -> None:
        self.terms += 1
        self.works = True
        self.began = self._pace.now
        try:
            if self.fails:
                raise RuntimeError("a mistake of ours")
            await asyncio.Event().wait()
        finally:
            self.works = False
            self.ended = self._pace.now


@pytest.fixture
def lease() -> FakeLease:
    """Return a Lease that nobody holds."""
    return FakeLease()


@pytest.fixture
async def replica(lease: FakeLease, fake_pace: FakePace) -> AsyncIterator[Callable[[str], Replica]]:
    """Return a maker of replicas that compete until the test ends."""
    made: list[Replica] = []

    def make(name: str, pace: FakePace = fake_pace) -> Replica:
        found = Replica(lease, name, pace)
        made.append(found)
        found.start()
        return found

    yield make
    for one in made:
        await one.stop()


async def test_one_of_two_leads(replica: Callable[[str], Replica], fake_pace: FakePace) -> None:
    """However long both are there."""
    first, second = replica("a"), replica("b")
    await eventually(lambda: first.works or second.works)
    start = fake_pace.now
    await eventually(lambda: fake_pace.now > start + 120)
    assert (first.terms, second.terms) in {(1, 0), (0, 1)}
    assert first.election.leads != second.election.leads


async def test_a_leader_that_ends_hands_over(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """The next one need not wait until the Lease is stale."""
    first = replica("a")
    await eventually(lambda: first.works)
    await first.stop()
    assert (lease.record.holder, first.works, first.election.leads) == ("", False, False)
    second, start = replica("b"), fake_pace.now
    await eventually(lambda: second.works)
    assert second.began - start < 5


async def test_a_leader_that_dies_is_replaced_when_its_lease_is_stale(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """Others wait as long as it asked for, on their own clock, and not longer than twice that."""
    lease.record = await lease.write(lease.record, "dead")
    second, start = replica("b"), fake_pace.now
    await eventually(lambda: second.works)
    assert 15 < second.began - start < 30


async def test_who_cannot_renew_stops_before_others_begin(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """An API server that is away for long leaves nobody leading, and then somebody again."""
    first = replica("a")
    await eventually(lambda: first.works)
    lease.is_down, start = True, fake_pace.now
    await eventually(lambda: not first.works)
    assert 8 <= first.ended - start < 15
    lease.is_down = False
    await eventually(lambda: first.terms == 2)


async def test_a_short_trouble_costs_no_lead(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """Nor does a conflict by somebody who only touched the Lease."""
    first = replica("a")
    await eventually(lambda: first.works)
    lease.trouble = [CallFailed("busy"), Conflict("touched"), Conflict("twice")]
    start = fake_pace.now
    await eventually(lambda: fake_pace.now > start + 30 and not lease.trouble)
    assert first.terms == 1


async def test_a_lease_that_another_took_is_let_go(
    replica: Callable[[str], Replica], lease: FakeLease
) -> None:
    """Whoever took it by hand has it, but for no longer than any leader without a sign of life."""
    first = replica("a")
    await eventually(lambda: first.works)
    lease.record = await lease.write(lease.record, "intruder")
    lease.record = replace(lease.record, hold=86_400)
    await eventually(lambda: first.terms == 2 and first.works)
    assert 15 < first.began - first.ended < 30


async def test_work_that_fails_is_begun_again(
    replica: Callable[[str], Replica], caplog: pytest.LogCaptureFixture
) -> None:
    """The failure is in the log, and another replica may have the next turn."""
    first = replica("a")
    first.fails = True
    await eventually(lambda: first.terms >= 2)
    assert "leader_failed" in caplog.text


async def test_a_lease_that_does_not_answer_is_let_go_in_time(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """Others begin 15 s after a renewal arrived, whether or not its answer did."""
    first = replica("a")
    await eventually(lambda: first.works)
    lease.hangs, start = True, fake_pace.now
    await eventually(lambda: not first.works)
    assert first.ended - start < HOLD_SECONDS
    lease.hangs = False
    await eventually(lambda: first.terms == 2)


async def test_a_lost_answer_costs_no_lead(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """The write arrived, so the next one conflicts with ourselves."""
    first = replica("a")
    await eventually(lambda: first.works)
    lease.lost, start = 1, fake_pace.now
    await eventually(lambda: fake_pace.now > start + 30)
    assert (first.terms, lease.lost) == (1, 0)


async def test_a_lease_that_was_deleted_is_anybodys(
    replica: Callable[[str], Replica], lease: FakeLease, fake_pace: FakePace
) -> None:
    """Somebody else may have made it anew in the same moment, so who led it stops at once."""
    first = replica("a")
    await eventually(lambda: first.works)
    start = fake_pace.now
    lease.delete()
    await eventually(lambda: first.terms == 2)
    assert first.ended - start < 5


async def test_a_mistake_of_ours_does_not_end_the_competition(
    replica: Callable[[str], Replica],
    lease: FakeLease,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody would notice that this replica never leads again."""
    mistakes = [KeyError("metadata"), TypeError("hold")]
    read = lease.read

    async def stumbling() -> Record:
        if mistakes:
            raise mistakes.pop()
        return await read()

    monkeypatch.setattr(lease, "read", stumbling)
    first = replica("a")
    await eventually(lambda: first.works)
    assert caplog.text.count("leader_failed") == 2
