"""The reflector's way through an API server's troubles."""

from functools import partial

import pytest
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver

from tests.fakes.apiserver import FakeAPI, LoopbackAccess, Refusal, line
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from tests.webhook.watch.conftest import Rig
from webhook.apiserver import answers
from webhook.apiserver.errors import NoCluster
from webhook.watch import stream

NAD = "NetworkAttachmentDefinition"
NETWORK = "RDMANetwork"


def has_napped(pace: FakePace, times: int) -> bool:
    """Tell whether someone slept so many times."""
    return len(pace.naps) == times


def is_fresh(rig: Rig, bookmarks: int) -> bool:
    """Tell whether so many bookmarks have come, the last one just now."""
    state = rig.cache.states()[NAD]
    return state.tally.events >= bookmarks and rig.cache.staleness(NAD) == 0


async def test_a_watch_that_falls_silent_goes_on_where_it_was(
    api: FakeAPI, rig: Rig, fake_pace: FakePace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-open connection is found by its silence; the next watch begins at the last event."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.put(NAD, "a", "team")
    await eventually(lambda: rig.nads() == {"a"})
    fake_pace.is_running.clear()
    with monkeypatch.context() as impatient:
        impatient.setattr(stream, "SILENCE_SECONDS", 0.1)
        api.bookmark(NAD)
        await eventually(lambda: rig.trouble(NAD))
    assert "nothing whole came for" in rig.trouble(NAD)
    fake_pace.is_running.set()
    await eventually(lambda: rig.trouble(NAD) == "")
    assert api.requests(NAD, watch=True)[-1].query["resourceVersion"] == "102"
    assert len(api.lists(NAD)) == 1
    assert rig.nads() == {"a"}


async def test_a_version_from_before_a_restored_backup_is_given_up(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for a version it has yet to reach, the API server is silent for ever: list again.

    Kubernetes 1.37.2 sends neither events nor bookmarks to such a watch.
    """
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 0.1)
    for name in "ab":
        api.put(NAD, name, "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.restore(50)
    api.forget(NAD, "a", "team")
    api.end_watches(NAD)
    await eventually(lambda: rig.nads() == {"b"})
    assert rig.cache.states()[NAD].tally.failures["silent"] > 0


async def test_bytes_that_make_no_line_are_silence(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that drips a byte now and then does not hold us with half an event."""
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 0.3)
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    asked = len(api.seen)

    def is_given_up() -> bool:
        api.say(NAD, b"{")
        return len(api.seen) > asked

    await eventually(is_given_up)
    assert rig.cache.states()[NAD].tally.failures["silent"] == 1


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


async def test_a_kind_that_was_there_is_not_forgotten_at_the_first_404(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """An API server that is just starting says 404; only after a minute of it we believe it."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    fake_pace.is_running.clear()
    api.refuse(NAD, *[Refusal(404)] * 20)
    api.say(NAD, line("ERROR", {"code": 410}))
    await eventually(lambda: fake_pace.naps)
    assert rig.nads() == {"a"}
    fake_pace.is_running.set()
    await eventually(lambda: rig.nads() == set())
    assert sum(fake_pace.naps) >= 60
    assert rig.is_synced(NAD)


async def test_a_refused_token_is_read_again(
    api: FakeAPI, rig: Rig, access: LoopbackAccess
) -> None:
    """401 reloads the credentials before the next try."""
    api.refuse(NAD, Refusal(401))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert access.reloads == 1
    assert api.seen[-1].headers["Authorization"] == "Bearer token-1"


async def test_a_token_that_cannot_be_read_again_is_said(
    api: FakeAPI, rig: Rig, access: LoopbackAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """401 and no new credentials: what is known stays, the reason is there, and we try on."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))

    async def gone() -> None:
        raise NoCluster("token: no such file")

    with monkeypatch.context() as broken:
        broken.setattr(access, "reload", gone)
        api.refuse(NAD, *[Refusal(401)] * 3)
        api.end_watches(NAD)
        await eventually(lambda: rig.trouble(NAD) == "token: no such file")
        assert rig.nads() == {"a"}
        assert rig.is_synced(NAD)
    await eventually(lambda: api.watching(NAD) and not rig.trouble(NAD))


async def test_retry_after_is_honoured(api: FakeAPI, rig: Rig, fake_pace: FakePace) -> None:
    """429 with Retry-After: we stay away at least that long."""
    fake_pace.share = 0.0
    api.refuse(NAD, Refusal(429, headers={"Retry-After": "17"}))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert fake_pace.naps[0] == 17.0


@pytest.mark.parametrize("text", [None, "Wed, 21 Oct 2026 07:28:00 GMT", "soon", "-3", ""])
async def test_without_a_usable_retry_after_we_back_off_as_usual(
    api: FakeAPI, rig: Rig, fake_pace: FakePace, text: str | None
) -> None:
    """Absent, a date, or nonsense: no reason to fail, nor to come back at once."""
    headers = {} if text is None else {"Retry-After": text}
    api.refuse(NAD, *[Refusal(status, headers=headers) for status in (429, 503)])
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert fake_pace.naps[:2] == [0.5, 1.0]


async def test_failures_back_off_up_to_a_ceiling(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """Each failure doubles the most we wait, from half a second up to thirty."""
    api.refuse(NAD, *[Refusal(500)] * 9)
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert fake_pace.naps[:9] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


async def test_a_healthy_minute_forgives_earlier_failures(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """After a watch of a minute the next failure is a first one; after a short one it is not."""
    api.refuse(NAD, *[Refusal(500)] * 3)
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    for lived, naps in ((5, 5), (60, 7)):
        fake_pace.now += lived
        api.refuse(NAD, Refusal(500))
        api.cut_watches(NAD)
        await eventually(partial(has_napped, fake_pace, naps))
        await eventually(lambda: api.watching(NAD))
    assert fake_pace.naps == [0.5, 1, 2, 4, 8, 0.5, 1]


@pytest.mark.parametrize("status", [410, 504])
async def test_a_refused_version_is_listed_anew(api: FakeAPI, rig: Rig, status: int) -> None:
    """HTTP 410, and 504 for a version ahead of this API server: a full list, nothing lost."""
    api.put(NAD, "a", "team")
    api.put(NAD, "b", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.forget(NAD, "a", "team")
    text = "Timeout: Too large resource version: 9, current: 7"
    api.refuse(NAD, Refusal(status, text, only="watch"))
    api.end_watches(NAD)
    await eventually(lambda: rig.nads() == {"b"})
    tally = rig.cache.states()[NAD].tally
    assert tally.lists["expired", "stream" if api.can_stream else "pages"] == 1
    assert tally.failures["expired"] == 1
    assert rig.trouble(NAD) == ""


async def test_a_504_of_another_reason_keeps_our_place(api: FakeAPI, rig: Rig) -> None:
    """A gateway that has given up says nothing about versions."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.refuse(NAD, Refusal(504, "upstream timed out"))
    api.end_watches(NAD)
    await eventually(lambda: rig.trouble(NAD) == "" and api.requests(NAD, watch=True)[1:])
    await eventually(lambda: api.watching(NAD))
    assert len(api.lists(NAD)) == 1


async def test_an_older_version_counts(api: FakeAPI, rig: Rig) -> None:
    """Versions are opaque: one that looks older, after a restore, is another one and is taken."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    found = api.put(NAD, "a", "team", spec={"config": '{"type": "macvlan"}'})
    await eventually(lambda: rig.nads() == {"a"})
    before = rig.cache.current().nad("team", "a")
    metadata = {**found["metadata"], "resourceVersion": "3"}
    older = {**found, "metadata": metadata, "spec": {"config": '{"type": "ipvlan"}'}}
    api.say(NAD, line("MODIFIED", older))
    await eventually(lambda: rig.cache.current().nad("team", "a") != before)


async def test_the_largest_object_there_can_be_is_read(api: FakeAPI, rig: Rig) -> None:
    """3 MiB in one line, in many pieces, of characters of several bytes."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.put(NAD, "large", "team", status={"text": "東" * 2**20})
    api.put(NAD, "small", "team")
    await eventually(lambda: rig.nads() == {"large", "small"})
    assert len(api.lists(NAD)) == 1


@pytest.mark.parametrize("api", ["pages"], indirect=True)
async def test_a_page_that_drips_has_an_end(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that never pauses long and never ends is given up."""
    monkeypatch.setattr(answers, "WHOLE_SECONDS", 0.1)
    api.put(NAD, "a", "team")
    api.refuse(NAD, Refusal(200, drips=True, only="limit"))
    rig.start(NAD)
    await eventually(lambda: rig.is_synced(NAD))
    assert rig.cache.states()[NAD].tally.failures["silent"] == 1
    assert rig.nads() == {"a"}


async def test_a_name_that_does_not_resolve_for_a_while(
    api: FakeAPI, rig: Rig, access: LoopbackAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS fails and comes back: a sentence meanwhile, and what is known stays."""
    access.base = access.base.replace("127.0.0.1", "localhost")
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))

    async def fails(*_: object, **__: object) -> list[ResolveResult]:
        raise OSError(None, "Temporary failure in name resolution")

    with monkeypatch.context() as broken:
        broken.setattr(ThreadedResolver, "resolve", fails)
        access.base = access.base.replace("localhost", "ip6-localhost.localdomain")
        api.cut_watches(NAD)
        await eventually(lambda: "name resolution" in rig.trouble(NAD))
        assert rig.nads() == {"a"}
        assert rig.is_synced(NAD)
        access.base = access.base.replace("ip6-localhost.localdomain", "localhost")
    await eventually(lambda: api.watching(NAD) and not rig.trouble(NAD))
    assert len(api.lists(NAD)) == 1


async def test_a_clock_that_jumps_is_healed_by_the_next_bookmark(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """A machine that slept is not ready until the watch has shown that it lives; nothing else."""
    api.put(NAD, "a", "team")
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    fake_pace.now += 86_400
    (said,) = [one for one in rig.cache.missing() if one.startswith(NAD)]
    assert "no event or bookmark for 86400 seconds" in said
    assert rig.nads() == {"a"}
    api.bookmark(NAD)
    await eventually(lambda: rig.cache.staleness(NAD) == 0)
    assert not [one for one in rig.cache.missing() if one.startswith(NAD)]
    assert len(api.lists(NAD)) == 1


async def test_a_quiet_kind_is_kept_fresh_by_bookmarks(
    api: FakeAPI, rig: Rig, fake_pace: FakePace
) -> None:
    """Nothing changes for an hour: a bookmark a minute keeps us ready, and its version counts."""
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    for minute in range(1, 61):
        fake_pace.now += 60
        api.bookmark(NAD)
        await eventually(partial(is_fresh, rig, minute))
    assert not [one for one in rig.cache.missing() if one.startswith(NAD)]
    assert rig.cache.swaps == 0


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
