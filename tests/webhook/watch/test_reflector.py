"""The reflector follows one kind, against a scripted API server on loopback."""

import pytest

from tests.fakes.apiserver import FakeAPI, Refusal, line
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from tests.webhook.watch.conftest import Rig
from webhook.watch import stream

NAD = "NetworkAttachmentDefinition"
SPACE = "Namespace"
NETWORK = "RDMANetwork"


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


@pytest.mark.parametrize("api", ["pages"], indirect=True)
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


@pytest.mark.parametrize("api", ["pages"], indirect=True)
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


@pytest.mark.parametrize("api", ["pages"], indirect=True)
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
    api.end_watches(NAD)
    await eventually(lambda: api.requests(NAD, watch=True))
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
    await eventually(lambda: api.requests(NAD, watch=True)[0 if api.can_stream else 1 :])
    assert api.requests(NAD, watch=True)[-1].query["resourceVersion"] == "101"
    assert len(api.lists(NAD)) == 1


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
    await eventually(lambda: len(api.lists(NAD)) == 2 and api.watching(NAD))
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
    assert api.watching(NAD) == 1
    assert len(api.lists(NAD)) == 1


async def test_a_watch_cut_within_a_line_is_taken_up_again(api: FakeAPI, rig: Rig) -> None:
    """Half a line is never an object; the list that follows has the whole one."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.say(NAD, b'{"type":"ADDED","object":{"metadata":{"name":"ha')
    api.end_watches(NAD)
    await eventually(lambda: len(api.lists(NAD)) == 2)
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_garbage_in_a_watch_is_survived(api: FakeAPI, rig: Rig) -> None:
    """A line that is no JSON leads to a new list, not to the end."""
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD) and api.watching(NAD))
    api.say(NAD, b"<html>Bad Gateway</html>\n")
    await eventually(lambda: len(api.lists(NAD)) == 2)
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_a_line_above_the_limit_is_survived(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that never ends does not fill our memory."""
    monkeypatch.setattr(stream.Lines.__init__, "__defaults__", (1000,))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD) and api.watching(NAD))
    api.say(NAD, b"x" * 2000)
    await eventually(lambda: len(api.lists(NAD)) == 2)
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})


async def test_namespaces_are_read_as_metadata_only(api: FakeAPI, rig: Rig) -> None:
    """Of namespaces we ask for metadata alone, in list and watch."""
    api.put(SPACE, "team")
    rig.start(SPACE)
    await eventually(lambda: api.watching(SPACE))
    asked = {one.headers["Accept"] for one in api.requests(SPACE, watch=False)}
    watched = {one.headers["Accept"] for one in api.seen if "watch" in one.query}
    assert asked <= {"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
    assert watched == {"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}


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
