"""Huge pages, and what stands in the way of NUMA alignment."""

from typing import Any

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import container, pod
from webhook.injectors import memory
from webhook.pods.edits import AddVolume, MountVolume, RequestResource

PAGES = (("hugepages-2Mi", "5120Mi"),)
SOURCE = {"emptyDir": {"medium": "HugePages"}}
REQUEST = RequestResource(MAIN, "hugepages-2Mi", "5120Mi")


def mount(name: str = "rdma-hugepages", place: tuple[str, int] = MAIN) -> MountVolume:
    """Return the mount of the huge pages."""
    return MountVolume(place, {"name": name, "mountPath": "/dev/hugepages"})


def test_pages_come_with_their_volume() -> None:
    """A container with devices asks for the pages and can reach them."""
    edits, notices = injected(memory.inject, pod(), intent(hugepages=PAGES))
    assert edits == [REQUEST, AddVolume("rdma-hugepages", SOURCE), mount()]
    assert notices == []


def test_only_containers_with_devices_get_pages() -> None:
    """A companion shares /dev/shm, not the pages."""
    wanted = intent(equipped(), equipped(SIDE, name="side", has_devices=False), hugepages=PAGES)
    edits, _ = injected(memory.inject, pod(None, container(), container("side")), wanted)
    assert edits == [REQUEST, AddVolume("rdma-hugepages", SOURCE), mount()]


@pytest.mark.parametrize("limit", ["1Gi", "0", 0])
def test_the_authors_own_amount_is_kept(limit: str | int) -> None:
    """What the container asks for itself stays, in requests too."""
    given = pod(None, container(resources={"limits": {"hugepages-2Mi": limit}}))
    edits, _ = injected(memory.inject, given, intent(hugepages=PAGES))
    assert edits[0] == RequestResource(MAIN, "hugepages-2Mi", str(limit))


@pytest.mark.parametrize("path", ["/dev/hugepages", "/dev/hugepages/", "/dev"])
def test_a_covered_path_is_left_alone(path: str) -> None:
    """Where the author mounts something there, only the pages are asked for."""
    given = pod(None, container(volumeMounts=[{"name": "mine", "mountPath": path}]))
    edits, _ = injected(memory.inject, given, intent(hugepages=PAGES))
    assert edits == [REQUEST]


@pytest.mark.parametrize(
    ("volumes", "name"),
    [
        pytest.param([{"name": "rdma-hugepages", **SOURCE}], "rdma-hugepages", id="ours is there"),
        pytest.param([{"name": "rdma-hugepages"}], "rdma-hugepages-1", id="the name is taken"),
        pytest.param(
            [{"name": "rdma-hugepages", "emptyDir": None}, {"name": "rdma-hugepages-1"}],
            "rdma-hugepages-2",
            id="two names are taken",
        ),
    ],
)
def test_a_name_that_is_taken_is_avoided(volumes: list[dict[str, Any]], name: str) -> None:
    """A volume of the author never stands in for ours."""
    edits, _ = injected(memory.inject, pod(volumes=volumes), intent(hugepages=PAGES))
    assert edits[1:] == [AddVolume(name, SOURCE), mount(name)]


GPU = {"nvidia.com/gpu": "8"}
FIXED = {"cpu": "8", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("limits", "requests", "why"),
    [
        pytest.param(GPU | FIXED, GPU | FIXED, None, id="a Guaranteed pod of whole CPUs"),
        pytest.param(GPU | FIXED, None, None, id="requests come from limits"),
        pytest.param(
            GPU | FIXED, {"cpu": "4"}, "is not Guaranteed (limits", id="requests below limits"
        ),
        pytest.param(GPU | {"cpu": "8"}, None, "is not Guaranteed (limits", id="no memory limit"),
        pytest.param(GPU, {"cpu": "8"}, "is not Guaranteed (limits", id="no CPU limit"),
        pytest.param(
            GPU | FIXED | {"cpu": "7500m"},
            None,
            "asks for 7500m CPUs, no whole number",
            id="a fraction",
        ),
        pytest.param(GPU, GPU, None, id="no CPU is asked for"),
        pytest.param({"cpu": "7500m", "rdma/hca": "1"}, None, None, id="no accelerator but ours"),
        pytest.param(None, None, None, id="nothing is asked for"),
    ],
)
def test_a_container_that_cannot_be_aligned(
    limits: dict[str, str] | None, requests: dict[str, str] | None, why: str | None
) -> None:
    """Who asks for accelerators learns why the kubelet will not align them with the NIC."""
    given = pod(None, container(resources={"limits": limits, "requests": requests}))
    edits, notices = injected(memory.inject, given, intent(equipped(MAIN, ("rdma/hca", 1))))
    assert edits == []
    assert [why in text for text in notices if why] == ([True] if why else [])
    assert len(notices) == bool(why)


def test_a_shared_device_gives_no_hint() -> None:
    """Even the best pod is not aligned with a token of a shared device."""
    given = pod(None, container(resources={"limits": GPU | FIXED}))
    _, notices = injected(memory.inject, given, intent(shares_hca=True))
    assert notices == ["no NUMA alignment: container main gets a token without a topology hint"]
