"""The status of one object: written where it differs, of the version that was looked at."""

from typing import Any

import pytest

from policies.changes import Gone, Put
from tests.fakes.writes import CUT, Answer, WritableAPI, path_of
from tests.harness.cluster import NADS, NETWORKS, claim, network, policy, rail
from tests.webhook.control.conftest import NODES, PODS, Room, running
from webhook.control.keys import Key
from webhook.control.queue import Retry
from webhook.control.statuses import AGAIN_SECONDS

KEY = Key("RDMAPolicy", "team-a", "default")
POLICY = policy("tokens")
PATH = path_of(POLICY)
STATUS = f"{PATH}/status"
TEAM = "/api/v1/namespaces/team-a/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/team-a/events"
TOKENS = network("tokens", "DeviceOnly", rail("r0", "rdma/ib"))


def said(api: WritableAPI, path: str = PATH) -> dict[str, tuple[str, str, int]]:
    """Return the conditions of an object: status, reason and generation."""
    return {
        one["type"]: (one["status"], one["reason"], one["observedGeneration"])
        for one in api.objects[path].get("status", {}).get("conditions", ())
    }


def tell(room: Room) -> None:
    """Let the watch tell of every status that is written."""
    room.api.told = lambda found: room.hear(Put(found["kind"], found))


async def test_each_kind_says_how_it_stands(room: Room, writable: WritableAPI) -> None:
    """Once; a second look writes nothing and asks for nothing."""
    tell(room)
    stray = {**policy(), "metadata": {"name": "stray", "namespace": "team-a"}}
    made = room.put(*NETWORKS, *NADS, POLICY, claim("leaf.vlan.0210", "acme"), stray)
    ours = [one for one in made if one["kind"] != "NetworkAttachmentDefinition"]
    keys = [
        Key(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"])
        for one in ours
    ]
    for key in keys:
        assert await room.statuses.settle(key) is None
    assert room.statuses.writes == len(keys)
    assert said(writable)["Ready"] == ("True", "Ready", 1)
    assert said(writable, path_of(stray))["Ready"][:2] == ("False", "NameInvalid")
    assert writable.objects[path_of(claim("leaf.vlan.0210", "acme"))]["status"]["phase"] == "Bound"
    asked = len(writable.deeds)
    for key in keys:
        assert await room.statuses.settle(key) is None
    assert len(writable.deeds) == asked


async def test_a_network_says_what_nodes_advertise(room: Room, writable: WritableAPI) -> None:
    """Unknown before they were counted."""
    tell(room)
    room.put(TOKENS)
    key, path = Key("RDMANetwork", "", "tokens"), path_of(TOKENS)
    expected = {None: "NotCounted", "0": "NotAdvertised", "4": "Advertised"}
    for amount, reason in expected.items():
        if amount is not None:
            writable.lists[NODES] = [{"status": {"allocatable": {"rdma/ib": amount}}}]
            await room.nodes.count()
        await room.statuses.settle(key)
        assert said(writable, path)["ResourcesAdvertised"][1] == reason


async def test_a_status_that_says_it_already_is_not_written(
    room: Room, writable: WritableAPI
) -> None:
    """As after another leader wrote it and the watch lags."""
    room.put(TOKENS, POLICY)
    await room.statuses.settle(KEY)
    await room.statuses.settle(KEY)
    assert (room.statuses.writes, len(writable.done("GET", PATH))) == (1, 2)


async def test_a_newer_version_is_left_to_its_event(room: Room, writable: WritableAPI) -> None:
    """The standing is not of that one, so nothing is said about it."""
    room.put(TOKENS, POLICY)
    writable.put(policy("tokens", "nowhere"))
    with pytest.raises(Retry):
        await room.statuses.settle(KEY)
    assert (room.statuses.writes, room.statuses.failures) == (0, 0)
    room.hear(Put("RDMAPolicy", writable.objects[PATH]))
    await room.statuses.settle(KEY)
    assert said(writable)["Ready"] == ("False", "UnknownNetwork", 2)


async def test_an_object_made_anew_is_left_to_its_event(room: Room, writable: WritableAPI) -> None:
    """Its generation may be the same."""
    room.put(TOKENS, POLICY)
    del writable.objects[PATH]
    writable.put(policy("nowhere"))
    with pytest.raises(Retry):
        await room.statuses.settle(KEY)
    assert writable.done("PATCH") == []


async def test_a_change_during_the_write_keeps_its_generation(
    room: Room, writable: WritableAPI
) -> None:
    """Between our read and our write: what we say is of the version before, and says so."""
    room.put(TOKENS, POLICY)

    def meanwhile(method: str, _: str) -> None:
        if method == "PATCH":
            writable.put(policy("nowhere"))

    writable.before = meanwhile
    await room.statuses.settle(KEY)
    writable.before = lambda _method, _path: None
    assert writable.objects[PATH]["metadata"]["generation"] == 2
    assert said(writable)["Ready"] == ("True", "Ready", 1)
    with pytest.raises(Retry):
        await room.statuses.settle(KEY)


async def test_a_change_while_pods_are_listed_is_looked_at(
    room: Room, writable: WritableAPI
) -> None:
    """Generation and standing are of the same version."""
    room.put(TOKENS)
    await room.leftovers.list_all()
    room.put(POLICY)
    writable.lists[TEAM] = []

    def meanwhile(_: str, path: str) -> None:
        if path == TEAM:
            writable.before = lambda _method, _path: None
            room.put(policy("nowhere"))

    writable.before = meanwhile
    await room.statuses.settle(KEY)
    assert said(writable)["Ready"] == ("False", "UnknownNetwork", 2)


async def test_an_object_that_is_gone_needs_nothing(room: Room, writable: WritableAPI) -> None:
    """Whether we heard of it, or the API server says so; and nothing of it stays behind."""
    room.put(TOKENS, POLICY)
    writable.refuse("GET", PATH, Answer(403))
    with pytest.raises(Retry):
        await room.statuses.settle(KEY)
    del writable.objects[PATH]
    assert await room.statuses.settle(KEY) is None
    room.hear(Gone(*KEY))
    assert await room.statuses.settle(KEY) is None
    assert room.observed.sight(KEY) is None
    assert room.statuses._troubles == {}  # noqa: SLF001 - it shall not grow


async def test_a_deletion_during_the_write_does_not_bring_it_back(
    room: Room, writable: WritableAPI
) -> None:
    """The answer to our write is older than the event."""
    room.put(TOKENS, POLICY)
    writable.told = lambda _: room.hear(Gone(*KEY))
    await room.statuses.settle(KEY)
    assert room.observed.sight(KEY) is None


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize(
    "answer",
    [
        *(Answer(status) for status in (403, 409, 422, 500, CUT)),
        Answer(429, headers={"Retry-After": "7"}),
        Answer(200, "7"),
    ],
)
async def test_trouble_is_tried_again(
    room: Room,
    writable: WritableAPI,
    method: str,
    answer: Answer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As late as the API server asks for; said once and counted, except that others were faster."""
    seconds, failures = (7.0 if answer.headers else 0.0), int(answer.status != 409)
    room.put(TOKENS, POLICY)
    writable.refuse(method, PATH if method == "GET" else STATUS, answer, answer)
    for _ in range(2):
        with pytest.raises(Retry) as found:
            await room.statuses.settle(KEY)
        assert found.value.seconds == seconds
    assert room.statuses.failures == failures * 2
    assert caplog.text.count("status_not_written") == failures
    await room.statuses.settle(KEY)
    assert said(writable)["Ready"][0] == "True"


@pytest.mark.parametrize(
    "odd",
    [
        7,
        [],
        None,
        {"conditions": 7},
        {"conditions": [7, {}, {"type": "Ready", "status": "True", "lastTransitionTime": 7}]},
        {"counts": {"networks": "many"}},
    ],
)
async def test_a_status_of_any_shape_is_replaced(
    room: Room,
    writable: WritableAPI,
    odd: Any,  # noqa: ANN401 - JSON
) -> None:
    """Whoever wrote it."""
    tell(room)
    room.put(TOKENS, {**POLICY, "status": odd})
    await room.statuses.settle(KEY)
    assert said(writable)["Ready"] == ("True", "Ready", 1)


async def test_what_the_snapshot_does_not_know_is_left_alone(
    room: Room, writable: WritableAPI
) -> None:
    """An object that the core skipped: nothing is known, so nothing is said."""
    for key in (KEY, Key("RDMAPartition", "", "p"), Key("RDMANetwork", "", "n")):
        room.observed.see(key.kind, {"metadata": {"name": key.name, "namespace": key.namespace}})
        assert await room.statuses.settle(key) is None
    stray = Key("RDMAPolicy", "team-a", "stray")
    room.observed.see("RDMAPolicy", {"metadata": {"name": "stray", "namespace": "team-a"}})
    assert await room.statuses.settle(stray) is None
    assert writable.deeds == []


# ------------------------------------------------------------------ running pods


async def old_pods(room: Room, *names: str) -> None:
    """Have pods run that the policy no longer grants anything, and list them."""
    room.api.lists[PODS] = room.api.lists[TEAM] = [running(name) for name in names]
    await room.leftovers.list_all()


async def test_pods_of_an_earlier_policy_are_counted_and_told(
    room: Room, writable: WritableAPI
) -> None:
    """One event a change, not one for each pod that ends; looked at until none is left."""
    tell(room)
    room.put(TOKENS, POLICY)
    await old_pods(room, "p0", "p1")
    assert await room.statuses.settle(KEY) is None
    room.put(policy())
    assert await room.statuses.settle(KEY) == AGAIN_SECONDS
    assert said(writable)["Outdated"] == ("True", "PodsKeepOldRights", 2)
    writable.lists[TEAM] = [running("p1")]
    assert await room.statuses.settle(KEY) == AGAIN_SECONDS
    assert writable.objects[PATH]["status"]["counts"]["outdatedPods"] == 1
    (event,) = writable.done("POST", EVENTS)
    assert "p0, p1" in event.body["note"]
    writable.lists[TEAM] = []
    assert await room.statuses.settle(KEY) is None
    assert said(writable)["Outdated"][:2] == ("False", "NoneOutdated")


async def test_a_new_leader_lists_all_pods_once(room: Room, writable: WritableAPI) -> None:
    """Not the pods of each policy too."""
    room.put(TOKENS, POLICY)
    await old_pods(room, "p")
    await room.statuses.settle(KEY)
    assert writable.done("GET", TEAM) == []


async def test_pods_that_cannot_be_listed_hold_no_status_back(
    room: Room, writable: WritableAPI, caplog: pytest.LogCaptureFixture
) -> None:
    """What was known of them is said, and they are tried again; said once."""
    tell(room)
    writable.refuse("GET", PODS, Answer(403), Answer(403))
    room.put(TOKENS, POLICY)
    await room.leftovers.list_all()
    await room.statuses.settle(KEY)
    assert said(writable)["Outdated"][:2] == ("Unknown", "NotCounted")
    await room.leftovers.list_all()
    assert caplog.text.count("pods_unreadable") == 1
    await room.leftovers.list_all()
    room.put(policy())
    writable.refuse("GET", TEAM, Answer(403))
    assert await room.statuses.settle(KEY) == AGAIN_SECONDS
    assert said(writable)["Ready"] == ("True", "NothingGranted", 2)


async def test_pods_of_a_policy_that_went_are_told(room: Room, writable: WritableAPI) -> None:
    """Once, also where listing them took two tries; a stray's end says nothing of them."""
    room.put(TOKENS, POLICY)
    await old_pods(room, "p")
    await room.statuses.settle(Key("RDMAPolicy", "team-a", "stray"))
    room.remove(*KEY, PATH)
    writable.refuse("GET", TEAM, Answer(500))
    with pytest.raises(Retry):
        await room.statuses.settle(KEY)
    await room.statuses.settle(KEY)
    await room.statuses.settle(KEY)
    (event,) = writable.done("POST", EVENTS)
    assert "the policy is gone; 1 running pods" in event.body["note"]


async def test_an_event_that_cannot_be_written_holds_nothing_back(
    room: Room, writable: WritableAPI, caplog: pytest.LogCaptureFixture
) -> None:
    """A namespace that ends takes no events; the log has it."""
    room.put(TOKENS, POLICY)
    await old_pods(room, "p")
    room.put(policy())
    writable.refuse("POST", EVENTS, Answer(403))
    await room.statuses.settle(KEY)
    assert room.statuses.writes == 1
    assert caplog.text.count("event_not_written") == 1
    writable.lists[TEAM] = []
    await room.statuses.settle(KEY)
    room.remove(*KEY, PATH)
    await room.statuses.settle(KEY)
    assert len(writable.done("POST", EVENTS)) == 1
