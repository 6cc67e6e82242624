"""Each key once, never twice at a time, and again where it failed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from tests.fakes.eventually import eventually
from webhook.apiserver.pace import PATIENCE_SECONDS, Pace
from webhook.control.queue import Retry, WorkQueue
from webhook.control.turns import STEPS

SHORT = Pace(uniform=lambda _low, _high: 0.01)


class Workers:
    """Workers on one queue, and what they did."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.queue: WorkQueue[str] = WorkQueue(SHORT)
        self.done: Counter[str] = Counter()
        self.busy: Counter[str] = Counter()
        self.most = 0
        self.failing: dict[str, list[Exception]] = {}
        self.delays: dict[str, float] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self._tasks = [asyncio.create_task(self.queue.work(self._handle)) for _ in range(3)]

    async def _handle(self, key: str) -> float | None:
        self.busy[key] += 1
        self.most = max(self.most, self.busy[key])
        await asyncio.sleep(0)
        await self.gate.wait()
        self.busy[key] -= 1
        if self.failing.get(key):
            raise self.failing[key].pop(0)
        self.done[key] += 1
        return self.delays.pop(key, None)

    async def stop(self) -> None:
        """End the workers."""
        self.queue.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    """Return workers that end with the test."""
    found = Workers()
    yield found
    await found.stop()


async def test_a_key_that_waits_is_looked_at_once(workers: Workers) -> None:
    """However often it was named meanwhile; one that is being looked at, once more."""
    workers.queue.add(["a", "a"])
    workers.queue.add(["a", "b"])
    await eventually(lambda: workers.done == {"a": 1, "b": 1})
    workers.gate.clear()
    workers.queue.add(["a"])
    await eventually(lambda: workers.busy["a"])
    workers.queue.add(["a"])
    workers.queue.add(["a"])
    assert len(workers.queue) == 2
    workers.gate.set()
    await eventually(lambda: workers.done["a"] == 3)
    await asyncio.sleep(0.05)
    assert (workers.done["a"], workers.most, len(workers.queue)) == (3, 1, 0)


async def test_a_failure_is_tried_again(workers: Workers) -> None:
    """Also a mistake of ours, which is logged and stops nobody else."""
    workers.failing["a"] = [Retry(), Retry(), ValueError("a mistake")]
    workers.queue.add(["a", "b"])
    await eventually(lambda: workers.done == {"a": 1, "b": 1})


async def test_a_key_may_ask_to_be_looked_at_again(workers: Workers) -> None:
    """After as long as it says."""
    workers.delays["a"] = 0.01
    workers.queue.add(["a"])
    await eventually(lambda: workers.done["a"] == 2)


async def test_keys_that_need_nothing_do_not_keep_the_loop(workers: Workers) -> None:
    """Between one and the next others run, however many wait."""
    turns = 0

    async def idle(_: int) -> None:
        """Need nothing."""

    queue: WorkQueue[int] = WorkQueue(SHORT)
    queue.add(range(500))
    task = asyncio.create_task(queue.work(idle))
    while len(queue):
        turns += 1
        await asyncio.sleep(0)
    task.cancel()
    assert turns >= 500
    assert len(workers.queue) == 0


async def test_many_keys_are_poured_in_between_others() -> None:
    """And steps that found none count like others."""
    turns = 0
    queue: WorkQueue[int] = WorkQueue(SHORT)
    pouring = asyncio.create_task(queue.pour(n if n % 2 else None for n in range(10_000)))
    while not pouring.done():
        turns += 1
        await asyncio.sleep(0)
    assert len(queue) == 5000
    assert turns >= 10_000 / STEPS


async def test_nothing_is_remembered_of_a_key_that_is_done(workers: Workers) -> None:
    """Neither failures nor alarms: objects come and go for years."""
    workers.failing = {"a": [Retry(), Retry(0.02)], "b": [ValueError("a mistake")]}
    workers.queue.add(["a", "b"])
    await eventually(lambda: workers.done == {"a": 1, "b": 1})
    await eventually(lambda: not len(workers.queue))
    assert not any(getattr(workers.queue, name) for name in ("_failures", "_again", "_waiting"))


def test_a_key_waits_as_long_as_it_was_asked_to() -> None:
    """Within reason: a Retry-After of a year is a mistake of somebody."""
    queue: WorkQueue[str] = WorkQueue(Pace(uniform=lambda _low, high: high))
    waits = [queue._backoff("a", seconds) for seconds in (7.0, 0.0, 1e9)]  # noqa: SLF001 - as below
    assert waits == [7.0, 1.0, PATIENCE_SECONDS]


def test_waiting_grows_with_each_failure_in_a_row() -> None:
    """Up to half a minute, between half of it and the whole."""
    spans: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        spans.append((low, high))
        return high

    queue: WorkQueue[str] = WorkQueue(Pace(uniform=uniform))
    waits = [queue._backoff("a") for _ in range(9)]  # noqa: SLF001 - time would pass otherwise
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert all(low * 2 == high for low, high in spans)
