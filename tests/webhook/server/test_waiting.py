"""Who waits, for what, and for how long."""

import asyncio
from collections.abc import Sized
from functools import partial

import pytest

from policies.snapshot import Snapshot
from tests.fakes.eventually import eventually
from tests.fakes.reviews import DOUBTED, FakeCore, answer, doubted, not_ready
from tests.webhook.server.conftest import Desk
from webhook.admission.answer import Answer, Waiting
from webhook.server.objects import Objects
from webhook.server.waiting import WaitingRoom

LONG = 30.0


def reached(found: Sized, count: int) -> bool:
    """Tell whether a list has so many entries now."""
    return len(found) == count


@pytest.fixture
def core() -> FakeCore:
    """Return a core that is never ready."""
    found = FakeCore()
    found.result = not_ready()
    return found


@pytest.fixture
def room(core: FakeCore, desk: Desk) -> WaitingRoom:
    """Return a room for two with much patience."""
    return WaitingRoom(core, desk.objects, capacity=2, patience=LONG)


async def test_a_change_that_helps_gives_the_new_answer(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """The request is handled again on the newer snapshot."""
    task = asyncio.create_task(room.settle(b"x", not_ready(), LONG))
    await eventually(lambda: desk.asked)
    core.result = answer()
    desk.change()
    assert (await task).decision.verdict == "Patched"
    assert core.bodies == [b"x"]
    assert room.present == 0


async def test_a_change_that_does_not_help_is_waited_out(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """Each change is one more try, until one helps."""
    task = asyncio.create_task(room.settle(b"x", not_ready(), LONG))
    await eventually(lambda: desk.asked)
    for count in (1, 2):
        desk.change()
        await eventually(partial(reached, core.bodies, count))
        assert not task.done()
    core.result = answer()
    desk.change()
    assert (await task).decision.verdict == "Patched"


async def test_a_change_of_something_else_costs_nothing(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """A pod is handled again when what it waits for is there, not at every event."""
    task = asyncio.create_task(room.settle(b"x", not_ready(), LONG))
    await eventually(lambda: desk.asked)
    core.result = answer()
    for _ in range(3):
        desk.change(brings=False)
        await asyncio.sleep(0.01)
    assert core.bodies == []
    desk.change()
    assert (await task).decision.verdict == "Patched"


async def test_what_the_lookup_finds_is_used_at_once(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """When fetch changed the snapshot nobody waits for another change."""
    desk.fetch_changes = True
    core.result = answer()
    found = await room.settle(b"x", not_ready(), LONG)
    assert found.decision.verdict == "Patched"
    assert desk.asked == [("RDMAPolicy", "team", "default")]


async def test_each_missing_object_is_looked_up_once(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """First the policy, then a network of it; neither twice."""
    results: list[Answer | Waiting] = [not_ready("RDMANetwork"), not_ready("RDMANetwork"), answer()]

    def step(_: bytes, __: Snapshot) -> Answer | Waiting:
        return results.pop(0)

    core.result = step
    task = asyncio.create_task(room.settle(b"x", not_ready(), LONG))
    for count in (3, 2, 1):
        await eventually(partial(reached, results, count))
        await asyncio.sleep(0.01)
        desk.change()
    assert (await task).decision.verdict == "Patched"
    assert [one[0] for one in desk.asked] == ["RDMAPolicy", "RDMANetwork"]


async def test_patience_ends_with_the_last_refusal(core: FakeCore, desk: Desk) -> None:
    """When nothing comes in time the core's own refusal is sent."""
    room = WaitingRoom(core, desk.objects, patience=0.02)
    found = await room.settle(b"x", not_ready(), LONG)
    assert found.decision.reason == "PolicyNotReady"
    assert room.present == 0


async def test_nobody_waits_longer_than_the_caller(room: WaitingRoom) -> None:
    """The caller's deadline is shorter than our patience: it wins."""
    found = await asyncio.wait_for(room.settle(b"x", not_ready(), 0.02), 10)
    assert found.decision.reason == "PolicyNotReady"


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_without_time_there_is_no_waiting(
    desk: Desk, room: WaitingRoom, seconds: float
) -> None:
    """A deadline that is over is answered at once."""
    await room.settle(b"x", not_ready(), seconds)
    assert desk.asked == []


async def test_a_dry_run_waits_for_nothing(desk: Desk, room: WaitingRoom) -> None:
    """Whoever asks by --dry-run=server is told how it is now."""
    found = await room.settle(b"x", not_ready(dry_run=True), LONG)
    assert found.decision.reason == "PolicyNotReady"
    assert desk.asked == []


async def test_with_files_nothing_waits(core: FakeCore, desk: Desk) -> None:
    """A folder has no next change worth waiting for."""
    room = WaitingRoom(core, Objects(desk.current))
    found = await room.settle(b"x", not_ready(), LONG)
    assert found.decision.reason == "PolicyNotReady"


# ---------------------------------------------------------------- doubted answers


async def test_a_doubted_answer_is_given_again_on_what_a_look_finds(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """The policy was changed a moment ago: the pod is handled on it."""
    desk.fetch_changes = True
    core.result = answer()
    found = await room.settle(b"x", doubted(), LONG)
    assert found.decision.verdict == "Patched"
    assert (core.bodies, desk.asked) == ([b"x"], [DOUBTED])


async def test_a_look_that_finds_nothing_new_confirms_the_answer(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """Nobody waits for a change that is not likely."""
    found = await room.settle(b"x", doubted(), LONG)
    assert found.decision.reason == "NetworkNotGranted"
    assert (core.bodies, desk.asked, room.present) == ([], [DOUBTED], 0)


async def test_an_answer_that_is_still_doubted_is_sent(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """One look, whatever it finds."""
    desk.fetch_changes = True
    core.result = doubted()
    found = await room.settle(b"x", doubted(), LONG)
    assert found.decision.reason == "NetworkNotGranted"
    assert desk.asked == [DOUBTED]


async def test_a_doubted_answer_may_turn_into_waiting(
    core: FakeCore, desk: Desk, room: WaitingRoom
) -> None:
    """The newer policy grants the network, whose object is not seen yet."""
    desk.fetch_changes = True
    results: list[Answer | Waiting] = [not_ready("RDMANetwork"), answer()]
    core.result = lambda *_: results.pop(0)
    found = await room.settle(b"x", doubted(), LONG)
    assert found.decision.verdict == "Patched"
    assert [one[0] for one in desk.asked] == ["RDMAPolicy", "RDMANetwork"]


async def test_a_look_never_outlasts_the_caller(core: FakeCore, desk: Desk) -> None:
    """An API server that is slow costs the answer nothing but time."""

    async def never(*_: str) -> None:
        await asyncio.Event().wait()

    room = WaitingRoom(core, Objects(desk.current, desk.changed, never))
    found = await asyncio.wait_for(room.settle(b"x", doubted(), 0.02), 10)
    assert found.decision.reason == "NetworkNotGranted"
    assert room.present == 0


async def test_a_dry_run_doubts_nothing(desk: Desk, room: WaitingRoom) -> None:
    """Whoever asks by --dry-run=server is told how it is now."""
    await room.settle(b"x", doubted(dry_run=True), LONG)
    assert desk.asked == []


async def test_a_full_room_turns_away(desk: Desk, room: WaitingRoom) -> None:
    """More than fit are answered at once and counted."""
    tasks = [asyncio.create_task(room.settle(b"x", not_ready(), LONG)) for _ in range(2)]
    await eventually(lambda: room.present == 2)
    found = await room.settle(b"x", not_ready(), LONG)
    assert found.decision.reason == "PolicyNotReady"
    assert room.turned_away == 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert room.present == 0
    assert len(desk.asked) == 2
