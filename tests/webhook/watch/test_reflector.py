"""The reflector's promises, against a scripted API server on loopback."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.fakes.apiserver import FakeAPI, LoopbackAccess, Refusal, line
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from webhook.watch import stream
from webhook.watch.cache import Cache
from webhook.watch.connection import Connection
from webhook.watch.kinds import BY_NAME
from webhook.watch.reflector import Reflector

NAD = "NetworkAttachmentDefinition"
SPACE = "Namespace"
NETWORK = "RDMANetwork"


def has_napped(pace: FakePace, times: int) -> bool:
    """Tell whether someone slept so many times."""
    return len(pace.naps) == times


class Rig:
    """Reflectors that run, and what to ask them."""

    def __init__(self, connection: Connection, cache: Cache, pace: FakePace) -> None:
        """Join the parts."""
        self._connection = connection
        self._pace = pace
        self.cache = cache
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, kind: str) -> Reflector:
        """Run a reflector of a kind in the background."""
        reflector = Reflector(BY_NAME[kind], self._connection, self.cache, self._pace.pace)
        self._tasks.append(asyncio.create_task(reflector.run()))
        return reflector

    async def stop(self) -> None:
        """End the reflectors; one that failed fails the test."""
        for task in self._tasks:
            task.cancel()
        for found in await asyncio.gather(*self._tasks, return_exceptions=True):
            assert isinstance(found, asyncio.CancelledError), repr(found)

    def nads(self, namespace: str = "team") -> set[str]:
        """Return the names of the NADs that the snapshot has in a namespace."""
        return set(self.cache.current().shard(namespace).nads)

    def is_synced(self, kind: str) -> bool:
        """Tell whether the cache trusts a kind."""
        return self.cache.states()[kind].synced

    def trouble(self, kind: str) -> str:
        """Return what is wrong with a kind."""
        return self.cache.states()[kind].trouble


@pytest.fixture
async def rig(connection: Connection, cache: Cache, fake_pace: FakePace) -> AsyncIterator[Rig]:
    """Return a rig that is stopped after the test."""
    found = Rig(connection, cache, fake_pace)
    yield found
    await found.stop()


async def test_objects_listed_and_then_changed_reach_the_snapshot(api: FakeAPI, rig: Rig) -> None:
    """What was there, what comes and what goes is in the snapshot, and nothing else."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: rig.nads() == {"a"} and api.watching(NAD))
    api.put(NAD, "b", "team")
    await eventually(lambda: rig.nads() == {"a", "b"})
    api.delete(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"b"})
    assert rig.cache.states()[NAD].objects == 1


async def test_a_list_is_read_page_by_page(api: FakeAPI, rig: Rig) -> None:
    """A list asks for 500 at a time and follows the continue token to the end."""
    api.page = 2
    for number in range(5):
        api.put(NAD, f"n{number}", "team")
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert rig.nads() == {"n0", "n1", "n2", "n3", "n4"}
    lists = api.requests(NAD, watch=False)
    assert [one.query.get("continue") for one in lists] == [None, "2", "4"]
    assert {one.query["limit"] for one in lists} == {"500"}
    assert all("resourceVersion" not in one.query for one in lists)


async def test_a_kind_counts_as_synced_only_after_its_last_page(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """A page that fails leaves the kind not synced, and what was read is not forgotten."""
    api.page = 1
    api.put(NAD, "a", "team")
    api.put(NAD, "b", "team")
    api.refuse(NAD, Refusal(500, only="continue"))
    fake_pace.is_running.clear()
    rig.start(NAD)
    await eventually(lambda: rig.trouble(NAD))
    assert not rig.is_synced(NAD)
    fake_pace.is_running.set()
    await eventually(lambda: rig.is_synced(NAD))
    assert rig.nads() == {"a", "b"}


async def test_an_expired_continue_token_begins_the_list_again(api: FakeAPI, rig: Rig) -> None:
    """410 in the middle of a list means a full list, not a hole."""
    api.page = 1
    api.put(NAD, "a", "team")
    api.put(NAD, "b", "team")
    api.refuse(NAD, Refusal(410, only="continue"))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert rig.nads() == {"a", "b"}
    tokens = [one.query.get("continue") for one in api.requests(NAD, watch=False)]
    assert tokens == [None, "1", None, "1"]


async def test_watches_ask_for_bookmarks_and_a_random_length(api: FakeAPI, rig: Rig) -> None:
    """A watch goes on where the list ended, with bookmarks, for 300 to 600 seconds."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    query = api.requests(NAD, watch=True)[0].query
    assert query["allowWatchBookmarks"] == "true"
    assert query["resourceVersion"] == "101"
    assert 300 <= int(query["timeoutSeconds"]) <= 600


async def test_a_watch_that_ends_goes_on_from_the_last_bookmark(api: FakeAPI, rig: Rig) -> None:
    """After a bookmark the next watch begins there, without another list."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.bookmark(NAD)
    api.end_watches(NAD)
    await eventually(lambda: len(api.requests(NAD, watch=True)) == 2)
    assert api.requests(NAD, watch=True)[1].query["resourceVersion"] == "101"
    assert len(api.requests(NAD, watch=False)) == 1


async def test_an_expired_watch_lists_again_and_keeps_the_old_objects(
    api: FakeAPI, rig: Rig
) -> None:
    """410 as an event: what was deleted unseen goes, and until then the old objects stay."""
    api.put(NAD, "a", "team")
    api.put(NAD, "b", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.forget(NAD, "a", "team")
    api.refuse(NAD, Refusal(503, only="limit"), Refusal(503, only="limit"))
    api.say(NAD, line("ERROR", {"kind": "Status", "code": 410, "message": "too old"}))
    seen: list[set[str]] = []

    def is_over() -> bool:
        seen.append(rig.nads())
        return rig.nads() == {"b"}

    await eventually(is_over)
    assert set() not in seen
    assert rig.is_synced(NAD)


async def test_a_relist_hands_over_only_what_differs(api: FakeAPI, rig: Rig) -> None:
    """Objects whose version is known are not applied again."""
    for number in range(20):
        api.put(NAD, f"n{number}", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    before = rig.cache.current()
    api.say(NAD, line("ERROR", {"code": 410}))
    await eventually(lambda: len(api.requests(NAD, watch=True)) == 2)
    assert rig.cache.current() is before


async def test_duplicate_events_change_nothing(api: FakeAPI, rig: Rig) -> None:
    """An event that is sent again is taken once."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    found = api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})
    before = rig.cache.current()
    api.say(NAD, line("ADDED", found) * 3)
    api.put(NAD, "b", "team")
    await eventually(lambda: rig.nads() == {"a", "b"})
    assert rig.cache.current().nad("team", "a") is before.nad("team", "a")
    assert rig.cache.states()[NAD].objects == 2


async def test_a_deletion_of_something_unknown_is_nothing(api: FakeAPI, rig: Rig) -> None:
    """DELETED for an object that was never there does not stop the stream."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    ghost = {"metadata": {"name": "ghost", "namespace": "team", "resourceVersion": "9"}}
    api.say(NAD, line("DELETED", ghost))
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_lines_may_be_cut_anywhere(api: FakeAPI, rig: Rig) -> None:
    """An event that comes byte by byte, through multi-byte characters too, is one event."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    found = {
        "metadata": {
            "name": "a",
            "namespace": "team",
            "resourceVersion": "900",
            "annotations": {"text": "Zürich, 東京 🚄"},
        }
    }
    for byte in line("ADDED", found):
        api.say(NAD, bytes([byte]))
    await eventually(lambda: rig.nads() == {"a"})
    assert len(api.requests(NAD, watch=True)) == 1


async def test_a_watch_cut_within_a_line_is_taken_up_again(api: FakeAPI, rig: Rig) -> None:
    """Half a line is never an object; the list that follows has the whole one."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.say(NAD, b'{"type":"ADDED","object":{"metadata":{"name":"ha')
    api.end_watches(NAD)
    await eventually(lambda: api.requests(NAD, watch=True)[1:])
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_garbage_in_a_watch_is_survived(api: FakeAPI, rig: Rig) -> None:
    """A line that is no JSON leads to a new list, not to the end."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.say(NAD, b"<html>Bad Gateway</html>\n")
    await eventually(lambda: len(api.requests(NAD, watch=False)) == 2)
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_a_line_above_the_limit_is_survived(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that never ends does not fill our memory."""
    monkeypatch.setattr(stream.Lines.__init__, "__defaults__", (1000,))
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.say(NAD, b"x" * 2000)
    await eventually(lambda: len(api.requests(NAD, watch=False)) == 2)
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_a_silent_watch_is_given_up(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-open connection is found by its silence, and the watch goes on where it was."""
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 0.05)
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: len(api.requests(NAD, watch=True)) >= 2)
    assert api.requests(NAD, watch=True)[1].query["resourceVersion"] == "101"
    assert len(api.requests(NAD, watch=False)) == 1
    assert rig.nads() == {"a"}


def test_the_guard_against_silence_is_longer_than_bookmarks_are_apart() -> None:
    """Bookmarks come once a minute; a healthy quiet watch must not be cut."""
    assert stream.SILENCE_SECONDS >= 75


async def test_forbidden_names_verb_and_resource(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """403 says which right our role lacks, and reading goes on once it is granted."""
    api.refuse(NAD, Refusal(403, "cannot list"))
    fake_pace.is_running.clear()
    rig.start(NAD)
    await eventually(lambda: rig.trouble(NAD))
    assert "list and watch on network-attachment-definitions.k8s.cni.cncf.io" in rig.trouble(NAD)
    assert any("forbidden" in one for one in rig.cache.missing())
    fake_pace.is_running.set()
    await eventually(lambda: rig.is_synced(NAD) and not rig.trouble(NAD))


async def test_a_missing_definition_of_ours_keeps_us_not_ready(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """404 for a kind of ours: not synced, with a sentence, until it is installed."""
    api.refuse(NETWORK, Refusal(404))
    fake_pace.is_running.clear()
    rig.start(NETWORK)
    await eventually(lambda: rig.trouble(NETWORK))
    assert not rig.is_synced(NETWORK)
    assert "no CustomResourceDefinition rdmanetworks.rdma.io" in rig.trouble(NETWORK)
    fake_pace.is_running.set()
    await eventually(lambda: rig.is_synced(NETWORK))


async def test_a_cluster_without_multus_has_no_nads(api: FakeAPI, rig: Rig) -> None:
    """404 for NADs: known to be none, and found once Multus is installed."""
    api.refuse(NAD, *[Refusal(404)] * 3)
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_a_refused_token_is_read_again(
    api: FakeAPI, rig: Rig, access: LoopbackAccess
) -> None:
    """401 reloads the credentials before the next try."""
    api.refuse(NAD, Refusal(401))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert access.reloads == 1
    assert api.seen[-1].headers["Authorization"] == "Bearer token-1"


async def test_retry_after_is_honoured(api: FakeAPI, rig: Rig, fake_pace: FakePace) -> None:
    """429 with Retry-After: we stay away at least that long."""
    fake_pace.share = 0.0
    api.refuse(NAD, Refusal(429, headers={"Retry-After": "17"}))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert fake_pace.naps[0] == 17.0


async def test_failures_back_off_up_to_a_ceiling(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """Each failure doubles the most we wait, from half a second up to thirty."""
    api.refuse(NAD, *[Refusal(500)] * 9)
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert fake_pace.naps[:9] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


async def test_watches_that_end_at_once_do_not_spin(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """A server that ends each watch immediately is asked ever more slowly."""
    rig.start(NAD)
    for count in range(1, 5):
        await eventually(lambda: api.watching(NAD))
        api.end_watches(NAD)
        await eventually(partial(has_napped, fake_pace, count))
    assert fake_pace.naps == [0.5, 1, 2, 4]


async def test_an_unreachable_server_is_tried_again(
    rig: Rig, access: LoopbackAccess, fake_pace: FakePace
) -> None:
    """A refused connection is a sentence in readiness, and reading starts when it comes back."""
    good, access.base = access.base, "http://127.0.0.1:1"
    fake_pace.is_running.clear()
    rig.start(NAD)
    await eventually(lambda: rig.trouble(NAD))
    assert "API server" in rig.trouble(NAD)
    access.base = good
    fake_pace.is_running.set()
    await eventually(lambda: rig.is_synced(NAD))


async def test_namespaces_are_read_as_metadata_only(api: FakeAPI, rig: Rig) -> None:
    """Of namespaces we ask for metadata alone, in list and watch."""
    api.put(SPACE, "team")
    rig.start(SPACE)
    await eventually(lambda: api.watching(SPACE))
    accepts = [one.headers["Accept"] for one in api.seen]
    assert accepts == [
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ]


async def test_an_object_that_does_not_parse_does_not_stop_the_stream(
    api: FakeAPI, rig: Rig
) -> None:
    """A broken RDMANetwork is a problem of the snapshot; the next one is read."""
    rig.start(NETWORK)
    await eventually(lambda: api.watching(NETWORK))
    api.put(NETWORK, "broken", apiVersion="rdma.io/v1alpha1", spec={"mode": 7})
    api.put(NETWORK, "other", apiVersion="rdma.io/v1alpha1", spec="none")
    await eventually(lambda: len(rig.cache.problems()) == 2)
    assert rig.trouble(NETWORK) == ""
