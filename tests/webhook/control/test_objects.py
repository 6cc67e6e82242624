"""Our objects and events over the wire."""

from typing import Any

import pytest

from tests.fakes.writes import CUT, Answer, WritableAPI, path_of
from tests.harness.cluster import network, policy, rail
from tests.webhook.control.conftest import Room
from webhook.apiserver.errors import (
    BrokenAnswer,
    Busy,
    CallFailed,
    Conflict,
    Forbidden,
    KindAbsent,
    Refused,
    Unreachable,
)
from webhook.control.keys import Key

KEY = Key("RDMAPolicy", "team-a", "default")
POLICY = policy("tokens")
PATH = path_of(POLICY)
EVENTS = "/apis/events.k8s.io/v1/namespaces/team-a/events"


async def test_a_status_is_applied_to_the_object_that_was_read(
    room: Room, writable: WritableAPI
) -> None:
    """By server-side apply, under our name, to that uid alone."""
    writable.put(POLICY)
    found = await room.objects.read(KEY)
    await room.objects.apply_status(KEY, found, {"counts": {"networks": 1}})
    (deed,) = writable.done("PATCH")
    assert (deed.path, deed.headers["Content-Type"]) == (
        f"{PATH}/status",
        "application/apply-patch+yaml",
    )
    assert deed.query == {"fieldManager": "rdma-webhook", "force": "true"}
    assert deed.body == {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPolicy",
        "metadata": {
            "name": "default",
            "namespace": "team-a",
            "uid": found["metadata"]["uid"],
        },
        "status": {"counts": {"networks": 1}},
    }


async def test_an_object_of_the_cluster_has_no_namespace(room: Room, writable: WritableAPI) -> None:
    """Neither in its path nor in what is applied."""
    writable.put(network("n", "DeviceOnly", rail("r0", "rdma/ib")))
    key = Key("RDMANetwork", "", "n")
    await room.objects.apply_status(key, await room.objects.read(key), {})
    assert "namespace" not in writable.done("PATCH")[0].body["metadata"]


async def test_an_object_made_anew_is_left_alone(room: Room, writable: WritableAPI) -> None:
    """What was read says nothing of it."""
    writable.put(POLICY)
    found = await room.objects.read(KEY)
    del writable.objects[PATH]
    writable.put(POLICY)
    with pytest.raises(Conflict):
        await room.objects.apply_status(KEY, found, {})


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(404), KindAbsent),
        (Answer(409), Conflict),
        (Answer(403), Forbidden),
        (Answer(422), Refused),
        (Answer(429), Busy),
        (Answer(CUT), Unreachable),
        (Answer(200, "null"), BrokenAnswer),
    ],
)
async def test_every_trouble_is_a_failed_call(
    room: Room, writable: WritableAPI, answer: Answer, error: type[CallFailed]
) -> None:
    """Of reading, of applying, and of telling."""
    found = writable.put(POLICY)
    writable.refuse("GET", PATH, answer)
    writable.refuse("PATCH", f"{PATH}/status", answer)
    writable.refuse("POST", EVENTS, answer)
    for call in (
        room.objects.read(KEY),
        room.objects.apply_status(KEY, found, {}),
        room.objects.tell(KEY, "", "Outdated", "told"),
    ):
        with pytest.raises(error):
            await call


@pytest.mark.parametrize("odd", [{}, {"metadata": None}, {"metadata": [7]}])
async def test_an_object_without_metadata_is_a_broken_answer(
    room: Room, writable: WritableAPI, odd: dict[str, Any]
) -> None:
    """Whatever else it says."""
    writable.objects[PATH] = odd
    with pytest.raises(BrokenAnswer, match="an object without metadata"):
        await room.objects.read(KEY)


async def test_an_event_is_told_beside_its_object(room: Room, writable: WritableAPI) -> None:
    """In the form of events.k8s.io/v1, of bounded length, each with a name of its own."""
    for _ in range(2):
        await room.objects.tell(KEY, "uid-1", "Outdated", "x" * 2000)
    first, second = (deed.body for deed in writable.done("POST", EVENTS))
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert first["metadata"]["namespace"] == "team-a"
    assert len(first["note"]) == 1024
    assert (first["type"], first["reason"]) == ("Warning", "Outdated")
    assert first["eventTime"] == "2026-01-02T12:00:00.000345Z"
    assert first["regarding"]["uid"] == "uid-1"
    await room.objects.tell(KEY, "", "Outdated", "gone")
    assert "uid" not in writable.done("POST", EVENTS)[2].body["regarding"]


def test_times_are_written_as_kubernetes_does(room: Room) -> None:
    """Whole seconds for conditions, more for events."""
    assert room.objects.now() == "2026-01-02T12:00:00Z"
    assert room.objects.now(micro=True) == "2026-01-02T12:00:00.000345Z"
