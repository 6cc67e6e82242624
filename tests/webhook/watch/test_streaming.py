"""Full lists as a watch that begins with what there is, against a scripted API server."""

import pytest

from tests.fakes.apiserver import FakeAPI, Refusal, line
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from tests.webhook.watch.conftest import Rig
from webhook.watch import stream
from webhook.watch.stream import INITIAL_END

NAD = "NetworkAttachmentDefinition"
streams = pytest.mark.parametrize("api", ["stream"], indirect=True)
pages = pytest.mark.parametrize("api", ["pages"], indirect=True)


def lists(rig: Rig) -> dict[tuple[str, str], int]:
    """Return the full lists of NADs that were read, by cause and way."""
    return dict(rig.cache.states()[NAD].tally.lists)


def mark(version: int) -> bytes:
    """Return the bookmark behind the objects that were there."""
    metadata = {"resourceVersion": str(version), "annotations": {INITIAL_END: "true"}}
    return line("BOOKMARK", {"metadata": metadata})


async def relist(api: FakeAPI, rig: Rig) -> None:
    """Make the API server say 410 to the watch, and return when a full list is under way."""
    begun = len(api.lists(NAD))
    api.say(NAD, line("ERROR", {"code": 410}))
    await eventually(lambda: len(api.lists(NAD)) > begun and api.watching(NAD) == 1)
    assert rig.is_synced(NAD)


@streams
async def test_one_request_lists_and_watches(api: FakeAPI, rig: Rig) -> None:
    """The stream goes on as the watch: no page and no second request is asked for."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    api.put(NAD, "b", "team")
    api.delete(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"b"})
    assert len(api.seen) == 1
    assert "resourceVersion" not in api.seen[0].query
    assert lists(rig) == {("start", "stream"): 1}


@streams
async def test_a_kind_is_synced_only_at_the_mark(api: FakeAPI, rig: Rig) -> None:
    """Until the last object that was there has come, the kind is not known."""
    api.put(NAD, "a", "team")
    api.put(NAD, "b", "team")
    api.initial = 2
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    assert not rig.is_synced(NAD)
    api.say(NAD, mark(102))
    await eventually(lambda: rig.is_synced(NAD))
    assert rig.nads() == {"a", "b"}


@streams
async def test_the_first_list_is_handed_over_in_parts(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large cluster is never held twice: what has come is in the snapshot before the end."""
    monkeypatch.setattr(stream, "PAGE_SIZE", 2)
    for name in "abcde":
        api.put(NAD, name, "team")
    api.initial = 5
    rig.start(NAD)
    await eventually(lambda: rig.nads() == {"a", "b", "c", "d"})
    api.say(NAD, mark(105))
    await eventually(lambda: rig.nads() == {"a", "b", "c", "d", "e"})


@streams
async def test_what_changes_while_the_list_is_sent_is_not_lost(api: FakeAPI, rig: Rig) -> None:
    """Changed and deleted before the mark: the list ends with what there is then."""
    for name in "abc":
        api.put(NAD, name, "team")
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    api.initial = 3
    await relist(api, rig)
    await eventually(lambda: api.watching(NAD))
    api.delete(NAD, "a", "team")
    api.put(NAD, "d", "team")
    api.delete(NAD, "d", "team")
    changed = api.put(NAD, "b", "team", spec={"config": '{"type": "macvlan"}'})
    api.say(NAD, mark(int(changed["metadata"]["resourceVersion"])))
    await eventually(lambda: rig.nads() == {"b", "c"})
    found = rig.cache.current().nad("team", "b")
    assert found is not None
    assert not found.problem


@streams
@pytest.mark.parametrize("how", ["cut", "end", "garbage", "busy", "expired"])
async def test_a_stream_that_breaks_within_the_list_leaves_the_old_snapshot(
    api: FakeAPI, rig: Rig, fake_pace: FakePace, how: str
) -> None:
    """Half a list is never seen: not its additions, not what is missing from it."""
    for name in "abc":
        api.put(NAD, name, "team")
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    before = rig.cache.current()
    api.forget(NAD, "a", "team")
    api.initial = 1
    await relist(api, rig)
    fake_pace.is_running.clear()
    napped = len(fake_pace.naps)
    half = {"metadata": {"name": "half", "namespace": "team", "resourceVersion": "7"}}
    api.say(NAD, line("ADDED", half))
    breaks = {
        "cut": lambda: api.cut_watches(NAD),
        "end": lambda: api.end_watches(NAD),
        "garbage": lambda: api.say(NAD, b"<html>\n"),
        "busy": lambda: api.say(NAD, line("ERROR", {"code": 500, "message": "no progress"})),
        "expired": lambda: api.say(NAD, line("ERROR", {"code": 410})),
    }
    breaks[how]()
    await eventually(lambda: len(fake_pace.naps) > napped)
    assert rig.cache.current() is before
    assert rig.is_synced(NAD)
    api.initial = None
    fake_pace.is_running.set()
    await eventually(lambda: rig.nads() == {"b", "c"})
    way = "stream" if how == "cut" else "pages"
    assert lists(rig) == {("start", "stream"): 1, ("expired", way): 1}


@pages
async def test_a_server_that_cannot_stream_is_asked_once(api: FakeAPI, rig: Rig) -> None:
    """422 means pages, at once and from then on."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    await relist(api, rig)
    await eventually(lambda: api.watching(NAD))
    assert lists(rig) == {("start", "pages"): 1, ("expired", "pages"): 1}
    assert sum("sendInitialEvents" in one.query for one in api.seen) == 1
    assert rig.trouble(NAD) == ""


@streams
async def test_a_server_that_ignores_the_question_is_asked_once(api: FakeAPI, rig: Rig) -> None:
    """An ordinary bookmark before the mark: this is a watch like any other, so read pages."""
    api.put(NAD, "a", "team")
    api.initial = 1
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.bookmark(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert rig.nads() == {"a"}
    await eventually(lambda: api.watching(NAD))
    api.say(NAD, line("ERROR", {"code": 410}))
    await eventually(lambda: lists(rig).get(("expired", "pages")) == 1)
    assert sum("sendInitialEvents" in one.query for one in api.seen) == 1


@streams
async def test_a_stream_that_never_ends_its_list_is_not_waited_for(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent within the list: pages instead, and the next time a stream again."""
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 0.1)
    api.put(NAD, "a", "team")
    api.initial = 1
    rig.start(NAD)
    await eventually(lambda: lists(rig) == {("start", "pages"): 1})
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 90.0)
    api.initial = None
    await eventually(lambda: api.watching(NAD))
    await relist(api, rig)
    await eventually(lambda: any(way == "stream" for _, way in lists(rig)))


@streams
async def test_a_refused_stream_says_what_is_wrong(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """403 on a streaming list is the same sentence as on pages."""
    api.refuse(NAD, Refusal(403, "cannot watch"))
    fake_pace.is_running.clear()
    rig.start(NAD)
    await eventually(lambda: rig.trouble(NAD))
    assert rig.trouble(NAD).startswith("forbidden: our role needs list and watch on network-att")
    fake_pace.is_running.set()
    await eventually(lambda: rig.is_synced(NAD))
