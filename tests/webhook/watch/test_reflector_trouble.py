"""The reflector's way through an API server's troubles."""

from functools import partial

import pytest

from tests.fakes.apiserver import FakeAPI, LoopbackAccess, Refusal, line
from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from tests.webhook.watch.conftest import Rig
from webhook.watch import stream

NAD = "NetworkAttachmentDefinition"
NETWORK = "RDMANetwork"


def has_napped(pace: FakePace, times: int) -> bool:
    """Tell whether someone slept so many times."""
    return len(pace.naps) == times


async def test_a_watch_that_falls_silent_goes_on_where_it_was(
    api: FakeAPI, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-open connection is found by its silence; the next watch begins at the last event."""
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 0.2)
    rig.start(NAD)
    await eventually(lambda: api.watching(NAD))
    api.put(NAD, "a", "team")
    api.end_watches(NAD)
    await eventually(lambda: api.requests(NAD, watch=True) and api.watching(NAD))
    api.put(NAD, "b", "team")
    await eventually(lambda: rig.trouble(NAD))
    assert rig.trouble(NAD).endswith("nothing whole came for 0 s")
    await eventually(lambda: api.requests(NAD, watch=True)[-1].query["resourceVersion"] == "102")
    assert len(api.lists(NAD)) == 1
    assert rig.nads() == {"a", "b"}


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
