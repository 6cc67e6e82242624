"""What nodes advertise, counted now and then."""

import asyncio
import contextlib
from typing import Any

import pytest

from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from tests.fakes.writes import CUT, Answer, WritableAPI
from tests.webhook.control.conftest import NODES, Room
from webhook.control.nodes import LATE_SECONDS, PAGE, SOON_SECONDS


def node(**allocatable: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a node; two underscores stand for a slash."""
    found = {name.replace("__", "/"): number for name, number in allocatable.items()}
    return {"metadata": {"name": "n"}, "status": {"allocatable": found}}


async def test_governed_resources_of_any_node_are_counted(
    room: Room, writable: WritableAPI
) -> None:
    """Over all pages; none of nothing, nor what is not ours to govern."""
    most = int(PAGE["limit"])
    plain = [node(cpu="8", rdma__none="0") for _ in range(most * 2)]
    odd: list[dict[str, Any]] = [
        {"metadata": {}},
        {"status": {}},
        {"status": {"allocatable": None}},
    ]
    writable.lists[NODES] = [node(rdma__a="1"), *plain, *odd, node(rdma__b="1k")]
    assert room.nodes.advertised is None
    assert await room.nodes.count()
    assert room.nodes.advertised == frozenset({"rdma/a", "rdma/b"})
    assert not await room.nodes.count()
    assert len(writable.done("GET", NODES)) == 6


@pytest.mark.parametrize(
    "answer",
    [
        *(Answer(status) for status in (403, 404, 410, 429, 500, CUT)),
        Answer(200, "{}"),
        Answer(200, '{"metadata": {}, "items": [{"status": {"allocatable": {"rdma/a": 1}}}]}'),
    ],
)
async def test_the_last_count_stays_where_nodes_cannot_be_read(
    room: Room, writable: WritableAPI, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    """Said once, not at each try."""
    writable.lists[NODES] = [node(rdma__a="1")]
    await room.nodes.count()
    writable.refuse("GET", NODES, answer, answer)
    assert not await room.nodes.count()
    assert not await room.nodes.count()
    assert room.nodes.advertised == frozenset({"rdma/a"})
    assert caplog.text.count("nodes_unreadable") == 1


async def test_nodes_are_counted_ever_more_rarely_until_something_hurries(
    room: Room, writable: WritableAPI, fake_pace: FakePace
) -> None:
    """Every minute in a quiet cluster, and soon after a network changed."""
    changes: list[frozenset[str] | None] = []
    task = asyncio.create_task(room.nodes.run(lambda: changes.append(room.nodes.advertised)))
    await eventually(lambda: fake_pace.now > 1000 + 10 * LATE_SECONDS)
    fake_pace.is_running.clear()
    assert 10 <= len(writable.done("GET", NODES)) < 20
    assert changes == [frozenset()]
    writable.lists[NODES] = [node(rdma__a="1")]
    room.nodes.hurry()
    start = fake_pace.now
    fake_pace.is_running.set()
    await eventually(lambda: len(changes) == 2)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert changes[1] == frozenset({"rdma/a"})
    assert fake_pace.now - start < LATE_SECONDS + SOON_SECONDS


async def test_who_no_longer_leads_knows_nothing(room: Room) -> None:
    """So that the next term does not begin with what was long ago."""
    await room.nodes.count()
    room.nodes.forget()
    assert room.nodes.advertised is None
