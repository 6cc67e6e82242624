"""Equipped pods, listed as metadata alone."""

from typing import Any

import pytest

from tests.fakes.writes import CUT, Answer, WritableAPI
from tests.webhook.control.conftest import PODS, Room, running
from webhook.apiserver.errors import CallFailed

TEAM = "/api/v1/namespaces/team-a/pods"


async def test_equipped_pods_are_found_by_their_stamp(room: Room, writable: WritableAPI) -> None:
    """Of every namespace; what is no stamp of ours is passed over."""
    odd = ["", "{", "7", "[]", "{}", '{"networks": []}', "[" * 5000]
    strangers = [running(f"odd-{n}", **{"rdma.io/status": text}) for n, text in enumerate(odd)]
    bare: list[dict[str, Any]] = [
        {"metadata": {"name": "x", "annotations": None}},
        {"metadata": {}},
        {},
    ]
    pods = [running(f"p{n}") for n in range(250)]
    writable.lists[PODS] = [*pods, *strangers, *bare, running("q", "team-b")]
    assert not room.pods.is_listed
    await room.pods.list_all()
    assert room.pods.is_listed
    assert len(room.pods.of("team-a")) == 250
    assert [pod.name for pod in room.pods.of("team-b")] == ["q"]
    assert set(room.pods.namespaces()) == {"team-a", "team-b"}
    assert room.pods.of("team-c") == ()
    deed = writable.done("GET", PODS)[0]
    assert "PartialObjectMetadataList" in deed.headers["Accept"]
    assert "Succeeded" in deed.query["fieldSelector"]


async def test_pods_of_one_job_share_what_they_have_in_common(
    room: Room, writable: WritableAPI
) -> None:
    """Tens of thousands of them are held at a time."""
    conf = {"rdma.io/nccl-conf": "NCCL_IB_SL=1\n" * 100, "k8s.v1.cni.cncf.io/networks": "a, b/c"}
    writable.lists[PODS] = [running("p0", **conf), running("p1", **conf)]
    await room.pods.list_all()
    first, second = room.pods.of("team-a")
    assert first.annotations is second.annotations
    assert first.selected is second.selected
    assert first.selected == {("team-a", "a"), ("b", "c")}
    assert "NCCL" not in str(first.annotations)


async def test_a_selection_that_multus_could_not_read_is_none(
    room: Room, writable: WritableAPI
) -> None:
    """The pod never had it."""
    writable.lists[PODS] = [running("p", **{"k8s.v1.cni.cncf.io/networks": "[{"})]
    await room.pods.list_all()
    assert room.pods.of("team-a")[0].selected == frozenset()


async def test_the_pods_of_a_namespace_are_listed_anew(room: Room, writable: WritableAPI) -> None:
    """They replace what was known of it, and nothing else."""
    writable.lists[PODS] = [running("old"), running("other", "team-b")]
    await room.pods.list_all()
    writable.lists[TEAM] = [running("new")]
    await room.pods.list_in("team-a")
    assert [pod.name for pod in room.pods.of("team-a")] == ["new"]
    writable.lists[TEAM] = []
    await room.pods.list_in("team-a")
    assert room.pods.namespaces() == ("team-b",)


@pytest.mark.parametrize("status", [403, 404, 410, 422, 429, 503, CUT])
async def test_what_was_known_stays_where_pods_cannot_be_read(
    room: Room, writable: WritableAPI, status: int
) -> None:
    """Also where a later page fails."""
    writable.lists[PODS] = [running("known")]
    writable.lists[TEAM] = []
    await room.pods.list_all()
    writable.refuse("GET", PODS, Answer(status))
    writable.refuse("GET", TEAM, Answer(status))
    for call in (room.pods.list_all(), room.pods.list_in("team-a")):
        with pytest.raises(CallFailed):
            await call
    assert len(room.pods.of("team-a")) == 1
    assert room.pods.is_listed


async def test_who_no_longer_leads_knows_nothing(room: Room, writable: WritableAPI) -> None:
    """Neither pods nor that they were listed."""
    writable.lists[PODS] = [running("p")]
    await room.pods.list_all()
    room.pods.forget()
    assert (room.pods.is_listed, room.pods.of("team-a")) == (False, ())
