"""Huge pages with their volume."""

from typing import Any

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import container, pod
from webhook.injectors import hugepages
from webhook.pods.edits import AddVolume, MountVolume, RequestResource

PAGES = (("hugepages-2Mi", "5120Mi"),)
BOTH = (*PAGES, ("hugepages-1Gi", "2Gi"))
SOURCE = {"emptyDir": {"medium": "HugePages"}}
REQUEST = RequestResource(MAIN, "hugepages-2Mi", "5120Mi")


def mount(
    name: str = "rdma-hugepages",
    path: str = "/dev/hugepages",
    place: tuple[str, int] = MAIN,
) -> MountVolume:
    """Return a mount of huge pages."""
    return MountVolume(place, {"name": name, "mountPath": path})


def test_pages_come_with_their_volume() -> None:
    """A container with devices asks for the pages and can reach them."""
    edits, notices = injected(hugepages.inject, pod(), intent(hugepages=PAGES))
    assert edits == [REQUEST, AddVolume("rdma-hugepages", SOURCE), mount()]
    assert notices == []


def test_each_size_has_its_own_volume() -> None:
    """The kubelet takes the plain medium for one page size alone."""
    edits, _ = injected(hugepages.inject, pod(), intent(hugepages=BOTH))
    assert edits == [
        REQUEST,
        RequestResource(MAIN, "hugepages-1Gi", "2Gi"),
        AddVolume("rdma-hugepages-2mi", {"emptyDir": {"medium": "HugePages-2Mi"}}),
        mount("rdma-hugepages-2mi", "/dev/hugepages-2Mi"),
        AddVolume("rdma-hugepages-1gi", {"emptyDir": {"medium": "HugePages-1Gi"}}),
        mount("rdma-hugepages-1gi", "/dev/hugepages-1Gi"),
    ]


def test_no_pages_nothing_to_do() -> None:
    """Networks without huge pages leave the pod alone."""
    assert injected(hugepages.inject, pod(), intent()) == ([], [])


def test_only_containers_with_devices_get_pages() -> None:
    """A companion shares /dev/shm, not the pages."""
    wanted = intent(equipped(), equipped(SIDE, name="side", has_devices=False), hugepages=PAGES)
    edits, _ = injected(hugepages.inject, pod(None, container(), container("side")), wanted)
    assert edits == [REQUEST, AddVolume("rdma-hugepages", SOURCE), mount()]


@pytest.mark.parametrize("limit", ["1Gi", "0", 0])
def test_the_authors_own_amount_is_kept(limit: str | int) -> None:
    """What the container asks for itself stays; it gets the volume all the same."""
    given = pod(None, container(resources={"limits": {"hugepages-2Mi": limit}}))
    edits, notices = injected(hugepages.inject, given, intent(hugepages=PAGES))
    assert edits == [AddVolume("rdma-hugepages", SOURCE), mount()]
    assert notices == []


def test_pages_of_another_size_are_kept() -> None:
    """A container that has pages of its own is told what it does not get."""
    given = pod(None, container(resources={"limits": {"hugepages-1Gi": "2Gi"}}))
    edits, notices = injected(hugepages.inject, given, intent(hugepages=PAGES))
    assert edits == []
    assert notices == ["container main keeps its own hugepages-1Gi; hugepages-2Mi is not added"]


@pytest.mark.parametrize("path", ["/dev/hugepages", "/dev/hugepages/", "/dev"])
def test_a_covered_path_is_left_alone(path: str) -> None:
    """Where the author mounts something there, only the pages are asked for."""
    given = pod(None, container(volumeMounts=[{"name": "mine", "mountPath": path}]))
    edits, _ = injected(hugepages.inject, given, intent(hugepages=PAGES))
    assert edits == [REQUEST]


@pytest.mark.parametrize(
    ("volumes", "name"),
    [
        pytest.param([{"name": "rdma-hugepages"}], "rdma-hugepages-1", id="the name is taken"),
        pytest.param(
            [{"name": "rdma-hugepages", **SOURCE}, {"name": "rdma-hugepages-1"}],
            "rdma-hugepages-2",
            id="two names are taken",
        ),
    ],
)
def test_a_name_that_is_taken_is_avoided(volumes: list[dict[str, Any]], name: str) -> None:
    """A volume of the author never stands in for ours."""
    edits, _ = injected(hugepages.inject, pod(volumes=volumes), intent(hugepages=PAGES))
    assert edits[1:] == [AddVolume(name, SOURCE), mount(name)]
