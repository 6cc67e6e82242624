"""The current snapshot and whether it can be trusted."""

import asyncio
import logging
import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from policies.changes import Change, Put
from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from webhook.watch.cache import BATCH_SECONDS, Cache

NAD = "NetworkAttachmentDefinition"


def nad(name: str, namespace: str = "team") -> Put:
    """Return a change that adds a NAD."""
    return Put(NAD, {"metadata": {"name": name, "namespace": namespace}})


async def test_what_is_offered_is_soon_in_the_snapshot(cache: Cache) -> None:
    """A change that comes alone is applied without being asked for."""
    cache.offer([nad("a")])
    await eventually(lambda: cache.current().nad("team", "a"))


async def test_a_burst_is_one_swap(cache: Cache) -> None:
    """Changes that come together become few snapshots, each whole."""
    seen = {id(cache.current())}
    for number in range(100):
        cache.offer([nad(f"n{number}")])
        await asyncio.sleep(0)
        seen.add(id(cache.current()))
    await eventually(lambda: len(cache.current().shard("team").nads) == 100)
    assert len(seen) < 10


async def test_a_snapshot_in_hand_never_changes(cache: Cache) -> None:
    """Who judges a pod keeps the snapshot it began with."""
    before = cache.current()
    cache.offer([nad("a")])
    cache.flush()
    assert before.nad("team", "a") is None
    assert cache.current().nad("team", "a") is not None


async def test_who_waits_hears_of_the_next_swap_only(cache: Cache) -> None:
    """A waiter is woken by a swap after it asked, not by one before."""
    cache.offer([nad("a")])
    cache.flush()
    waiter = asyncio.ensure_future(cache.changed())
    await asyncio.sleep(0)
    assert not waiter.done()
    cache.offer([nad("b")])
    cache.flush()
    await asyncio.wait_for(waiter, 5)


async def test_readiness_waits_for_every_kind(cache: Cache) -> None:
    """One sentence for each kind that is not known yet; none when all are."""
    kinds = list(cache.states())
    assert [one.split(":")[0] for one in cache.missing()] == kinds
    for kind in kinds:
        cache.synced(kind, 0)
    assert cache.missing() == []


async def test_silence_makes_us_not_ready(cache: Cache, fake_pace: FakePace) -> None:
    """A kind without a sign of life for too long is named, with how long; an event heals it."""
    for kind in cache.states():
        cache.synced(kind, 0)
    fake_pace.now += 601
    for kind in cache.states():
        if kind != NAD:
            cache.seen(kind, 0)
    assert cache.missing() == [f"{NAD}: no event or bookmark for 601 seconds, want at most 600"]
    cache.seen(NAD, 3)
    assert cache.missing() == []


async def test_staleness_counts_from_the_last_sign_of_life(
    cache: Cache, fake_pace: FakePace
) -> None:
    """Before the first it is infinite."""
    assert cache.staleness(NAD) == math.inf
    cache.seen(NAD, 1)
    fake_pace.now += 5
    assert cache.staleness(NAD) == 5


async def test_trouble_does_not_take_a_synced_kind_away(cache: Cache) -> None:
    """While the API server is away we go on with what we know."""
    for kind in cache.states():
        cache.synced(kind, 0)
    cache.failed(NAD, "API server: gone")
    assert cache.missing() == []


async def test_the_same_trouble_is_logged_once(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """A retry every few seconds must not fill the log."""
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            cache.failed(NAD, "API server: gone")
    assert len(caplog.records) == 1


class Follower:
    """Remembers what it was told: names put, and names of NADs before and after."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.told: list[tuple[list[str], set[str], set[str]]] = []

    def __call__(self, changes: Sequence[Change], before: Snapshot, after: Snapshot) -> None:
        """Take note."""
        put = [one.object["metadata"]["name"] for one in changes if isinstance(one, Put)]
        self.told.append((put, set(before.shard("team").nads), set(after.shard("team").nads)))


async def test_a_follower_hears_of_each_batch_with_both_snapshots(cache: Cache) -> None:
    """In order, whole, and once the new snapshot is the current one."""
    follower = Follower()
    current: list[bool] = []
    cache.follow(follower)
    cache.follow(lambda _, __, after: current.append(cache.current() is after))
    cache.offer([nad("a"), nad("b")])
    cache.flush()
    cache.offer([nad("c")])
    cache.flush()
    cache.flush()
    assert follower.told == [
        (["a", "b"], set(), {"a", "b"}),
        (["c"], {"a", "b"}, {"a", "b", "c"}),
    ]
    assert current == [True, True]


async def test_a_follower_that_fails_stops_nobody(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """The swap is done, waiters wake and the other followers are told; the log says it."""

    def broken(*_: object) -> None:
        raise KeyError("broken")

    follower = Follower()
    cache.follow(broken)
    cache.follow(follower)
    waiter = asyncio.ensure_future(cache.changed())
    await asyncio.sleep(0)
    cache.offer([nad("a")])
    cache.flush()
    await asyncio.wait_for(waiter, 5)
    assert cache.current().nad("team", "a") is not None
    assert len(follower.told) == 1
    assert [one.message for one in caplog.records] == ["follower_failed"]


class _Unmoved(Snapshot, frozen=True):
    """A snapshot that no change touches."""

    def apply(self, changes: Any) -> Snapshot:  # noqa: ANN401 - an iterable of changes
        """Take nothing."""
        return self if list(changes) else super().apply(())


async def test_a_batch_that_changes_nothing_is_no_swap() -> None:
    """Who waits for news is not woken and no swap is counted, but followers hear of the batch."""
    cache = Cache(_Unmoved(rules=Rules()), [NAD], timedelta(minutes=1), lambda: 0.0)
    follower = Follower()
    cache.follow(follower)
    waiter = asyncio.ensure_future(cache.changed())
    await asyncio.sleep(0)
    before = cache.current()
    cache.offer([nad("a")])
    cache.flush()
    await asyncio.sleep(0)
    assert cache.current() is before
    assert cache.swaps == 0
    assert not waiter.done()
    assert follower.told == [(["a"], set(), set())]
    waiter.cancel()


async def test_swaps_are_counted(cache: Cache) -> None:
    """One a batch, however many changes it holds."""
    for names in ("ab", "c"):
        cache.offer([nad(name) for name in names])
        cache.flush()
    assert cache.swaps == 2


def test_a_change_waits_for_its_burst_no_longer_than_50_ms() -> None:
    """Longer, and a pod just behind its policy would be late."""
    assert 0 < BATCH_SECONDS <= 0.05


async def test_problems_are_counted_by_kind(cache: Cache) -> None:
    """Each kind that is read has a number, and so has a source's own trouble."""
    cache.note("files", ["a.yaml: not YAML"])
    cache.offer([Put("RDMANetwork", {"metadata": {"name": "x"}, "spec": {}})])
    cache.flush()
    assert cache.troubled() == {
        "RDMANetwork": 1,
        "RDMAPolicy": 0,
        "RDMAPartition": 0,
        NAD: 0,
        "Namespace": 0,
        "files": 1,
    }


class _Fragile(Snapshot, frozen=True):
    """A snapshot that breaks the core's promise for one object."""

    def apply(self, changes: Any) -> Snapshot:  # noqa: ANN401 - an iterable of changes
        """Raise for the object called poison."""
        batch: list[Change] = list(changes)
        if any(
            isinstance(one, Put) and one.object["metadata"]["name"] == "poison" for one in batch
        ):
            raise KeyError("poison")
        taken = super().apply(batch)
        return _Fragile(rules=taken.rules, shards=taken.shards)


@pytest.mark.usefixtures("caplog")
async def test_one_poisonous_object_does_not_stop_the_others() -> None:
    """Should the core fail on an object, the rest of its batch is applied all the same."""
    cache = Cache(_Fragile(rules=Rules()), [NAD], timedelta(minutes=1), lambda: 0.0)
    follower = Follower()
    cache.follow(follower)
    cache.offer([nad("a"), nad("poison"), nad("b")])
    cache.flush()
    assert [put for put, _, _ in follower.told] == [["a", "b"]]
    assert set(cache.current().shard("team").nads) == {"a", "b"}


async def test_problems_come_from_snapshot_and_sources(cache: Cache) -> None:
    """What a source could not even read is a problem too."""
    cache.note("files", ["a.yaml: not YAML"])
    cache.offer([Put("RDMANetwork", {"metadata": {"name": "x"}, "spec": {}})])
    cache.flush()
    assert len(cache.problems()) == 2
    cache.note("files", [])
    assert len(cache.problems()) == 1
