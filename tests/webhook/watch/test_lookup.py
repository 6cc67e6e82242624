"""Single look-ups past the watch."""

import asyncio
import json

import pytest

from tests.fakes.apiserver import FakeAPI, Object, Refusal
from tests.fakes.pace import FakePace
from webhook.apiserver.connection import Connection
from webhook.apiserver.kinds import BY_NAME
from webhook.watch import lookup as module
from webhook.watch.cache import Cache
from webhook.watch.lookup import Lookup
from webhook.watch.reflector import Reflector

NAD = "NetworkAttachmentDefinition"


@pytest.fixture
def reflector(connection: Connection, cache: Cache, fake_pace: FakePace) -> Reflector:
    """Return a reflector that does not run."""
    return Reflector(BY_NAME[NAD], connection, cache, fake_pace.pace)


@pytest.fixture
def lookup(connection: Connection, reflector: Reflector, fake_pace: FakePace) -> Lookup:
    """Return a look-up for NADs."""
    return Lookup(connection, {NAD: reflector}, fake_pace.pace)


async def test_what_is_found_is_in_the_snapshot_at_once(
    api: FakeAPI, cache: Cache, lookup: Lookup
) -> None:
    """When fetch is done, the current snapshot has the object."""
    api.put(NAD, "a", "team")
    await lookup.fetch(NAD, "team", "a")
    assert cache.current().nad("team", "a") is not None


async def test_many_who_ask_for_the_same_make_one_request(
    api: FakeAPI, cache: Cache, lookup: Lookup
) -> None:
    """A burst of pods of one new namespace costs the API server one GET."""
    api.put(NAD, "a", "team")
    await asyncio.gather(*(lookup.fetch(NAD, "team", "a") for _ in range(50)))
    assert len(api.seen) == 1
    assert cache.current().nad("team", "a") is not None


async def test_what_was_not_found_is_not_asked_for_again_for_a_second(
    api: FakeAPI, fake_pace: FakePace, lookup: Lookup
) -> None:
    """Absence is remembered, briefly."""
    await lookup.fetch(NAD, "team", "a")
    await lookup.fetch(NAD, "team", "a")
    assert len(api.seen) == 1
    fake_pace.now += 1.1
    await lookup.fetch(NAD, "team", "a")
    assert len(api.seen) == 2


async def test_what_was_found_is_not_asked_for_again_for_a_second(
    api: FakeAPI, fake_pace: FakePace, lookup: Lookup
) -> None:
    """Whoever has pods refused cannot have us ask more often; the watch tells the rest."""
    api.put(NAD, "a", "team")
    for _ in range(20):
        await lookup.fetch(NAD, "team", "a")
    assert len(api.seen) == 1
    fake_pace.now += 1.1
    await lookup.fetch(NAD, "team", "a")
    assert len(api.seen) == 2


async def test_looks_that_are_over_are_forgotten(fake_pace: FakePace, lookup: Lookup) -> None:
    """The memory holds one second's looks, not all there ever were."""
    for name in "abc":
        await lookup.fetch(NAD, "team", name)
    assert lookup.remembered == 3
    fake_pace.now += 0.6
    await lookup.fetch(NAD, "team", "d")
    fake_pace.now += 0.6
    await lookup.fetch(NAD, "team", "a")
    assert lookup.remembered == 2


@pytest.mark.parametrize(("namespace", "name"), [("team", "a" * 254), ("n" * 254, "a")])
async def test_a_name_that_nothing_can_have_is_not_asked_for(
    api: FakeAPI, lookup: Lookup, namespace: str, name: str
) -> None:
    """A tenant's text of any length costs neither a request nor memory."""
    await lookup.fetch(NAD, namespace, name)
    assert api.seen == []
    assert lookup.remembered == 0


async def test_a_failing_api_server_raises_nothing(api: FakeAPI, lookup: Lookup) -> None:
    """Whoever waits for an object hears nothing of the API server's troubles."""
    api.refuse(NAD, Refusal(500))
    await lookup.fetch(NAD, "team", "a")


async def test_an_answer_that_does_not_come_is_not_waited_for(
    api: FakeAPI, lookup: Lookup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look has a budget, a quarter of a second: a pod waits for it."""
    assert module.LOOK_SECONDS <= 0.25
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    api.refuse(NAD, Refusal(200, drips=True))
    await lookup.fetch(NAD, "team", "a")
    assert lookup.remembered == 1


async def test_an_unknown_kind_is_not_asked_for(api: FakeAPI, lookup: Lookup) -> None:
    """Only kinds that are read can be looked up."""
    await lookup.fetch("Secret", "team", "a")
    assert api.seen == []


async def test_who_gives_up_does_not_take_the_answer_from_the_others(
    api: FakeAPI, cache: Cache, lookup: Lookup
) -> None:
    """The request goes on when the first who asked is cancelled."""
    api.put(NAD, "a", "team")
    first = asyncio.create_task(lookup.fetch(NAD, "team", "a"))
    second = asyncio.create_task(lookup.fetch(NAD, "team", "a"))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert cache.current().nad("team", "a") is not None


async def test_what_is_deleted_meanwhile_does_not_come_back(
    api: FakeAPI, cache: Cache, lookup: Lookup, reflector: Reflector
) -> None:
    """An answer that crossed a deletion is dropped; the watch knows better."""
    api.put(NAD, "a", "team")
    flight = asyncio.create_task(lookup.fetch(NAD, "team", "a"))
    for _ in range(2):
        await asyncio.sleep(0)
    reflector.known.deletions += 1
    await flight
    assert cache.current().nad("team", "a") is None


async def test_what_is_changed_meanwhile_stays_as_the_watch_says(
    api: FakeAPI, cache: Cache, lookup: Lookup, reflector: Reflector
) -> None:
    """An answer that crossed a change may be the older; the newer is in the snapshot at once."""
    asked = _nad("old")
    api.put(NAD, "a", "team", spec=asked["spec"])
    flight = asyncio.create_task(lookup.fetch(NAD, "team", "a"))
    for _ in range(2):
        await asyncio.sleep(0)
    reflector.put(_nad("new"), reflector.known.sighting(("team", "a")))
    await flight
    found = cache.current().nad("team", "a")
    assert found is not None
    assert found.masters == ("new",)


def _nad(master: str) -> Object:
    metadata = {"name": "a", "namespace": "team", "resourceVersion": f"of {master}"}
    config = {"cniVersion": "0.3.1", "name": "a", "type": "macvlan", "master": master}
    return {"kind": NAD, "metadata": metadata, "spec": {"config": json.dumps(config)}}
