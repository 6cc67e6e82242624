"""Shared memory at /dev/shm."""

from typing import Any

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import Object, container, pod
from webhook.injectors import volumes
from webhook.pods.edits import AddVolume, MountVolume

SHM = "/dev/shm"  # noqa: S108 the path in the container is the point
MEMORY = {"emptyDir": {"medium": "Memory"}}
ADDED = AddVolume("rdma-shm", {"emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}})
BOTH = (equipped(), equipped(SIDE, name="side"))
WANTED = intent(shared_memory="8Gi")


def mount(place: tuple[str, int] = MAIN, name: str = "rdma-shm") -> MountVolume:
    """Return our mount."""
    return MountVolume(place, {"name": name, "mountPath": SHM})


def mounting(
    name: str = "mine",
    path: str = SHM,
    **fields: Any,  # noqa: ANN401 any field of the mount
) -> Object:
    """Return a container that mounts a volume."""
    mounts = [{"name": "other", "mountPath": "/data"}, {"name": name, "mountPath": path, **fields}]
    return container(volumeMounts=mounts)


def test_one_volume_for_all() -> None:
    """Equipped containers share one memory volume, so that they share its files."""
    wanted = intent(*BOTH, shared_memory="8Gi")
    given = pod(None, container(), container("side"))
    assert injected(volumes.inject, given, wanted) == ([ADDED, mount(), mount(SIDE)], [])


def test_no_size_no_volume() -> None:
    """A size of nothing means that the pod keeps its default /dev/shm."""
    assert injected(volumes.inject, pod(), intent(shared_memory="")) == ([], [])


def test_the_nodes_own_memory_is_left_alone() -> None:
    """With hostIPC the author is told, and nothing is mounted over the node's."""
    edits, notices = injected(volumes.inject, pod(hostIPC=True), WANTED)
    assert edits == []
    assert notices == ["hostIPC: /dev/shm is the node's own, no memory volume is added"]


@pytest.mark.parametrize("path", [SHM, "/dev/shm/", "//dev//shm", "/dev"])  # noqa: S108
def test_a_covered_path_is_left_alone(path: str) -> None:
    """Whatever covers /dev/shm, in any spelling, is the author's choice."""
    given = pod(None, mounting(path=path), volumes=[{"name": "mine", **MEMORY}])
    assert injected(volumes.inject, given, WANTED) == ([], [])


@pytest.mark.parametrize(
    ("fields", "volume", "why"),
    [
        pytest.param(
            {"readOnly": True}, MEMORY, "is read-only; NCCL needs to write", id="read-only"
        ),
        pytest.param({}, {"emptyDir": {}}, "is no memory volume and will be slow", id="on disk"),
        pytest.param({}, {"emptyDir": None}, "is no memory volume", id="of no source that we read"),
        pytest.param({}, {"hostPath": {"path": SHM}}, "is no memory volume", id="of the node"),
        pytest.param({"subPath": "x"}, MEMORY, None, id="a part of a memory volume"),
    ],
)
def test_a_doubtful_mount_is_told(fields: Object, volume: Object, why: str | None) -> None:
    """The author's own mount stays, with a word about what may go wrong."""
    given = pod(None, mounting(**fields), volumes=[{"name": "mine", **volume}])
    edits, notices = injected(volumes.inject, given, WANTED)
    assert edits == []
    assert len(notices) == bool(why)
    assert all((why or "") in text for text in notices)


def test_another_containers_memory_is_shared() -> None:
    """A memory volume that one equipped container has at /dev/shm serves the others too."""
    given = pod(None, mounting(), container("side"), volumes=[{"name": "mine", **MEMORY}])
    wanted = intent(*BOTH, shared_memory="8Gi")
    assert injected(volumes.inject, given, wanted) == ([mount(SIDE, "mine")], [])


@pytest.mark.parametrize(
    ("fields", "volume"),
    [
        pytest.param({"readOnly": True}, MEMORY, id="read-only"),
        pytest.param({"subPath": "x"}, MEMORY, id="a part of a volume"),
        pytest.param({"subPathExpr": "$(X)"}, MEMORY, id="a part by a variable"),
        pytest.param({"path": "/dev"}, MEMORY, id="all of /dev"),
        pytest.param({}, {"emptyDir": {}}, id="on disk"),
    ],
)
def test_what_cannot_be_shared_is_not(fields: Object, volume: Object) -> None:
    """The others get a volume of ours."""
    given = pod(None, mounting(**fields), container("side"), volumes=[{"name": "mine", **volume}])
    edits, _ = injected(volumes.inject, given, intent(*BOTH, shared_memory="8Gi"))
    assert edits == [ADDED, mount(SIDE)]


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        pytest.param([{"name": "rdma-shm", **MEMORY}], "rdma-shm-1", id="by memory"),
        pytest.param([{"name": "rdma-shm", "configMap": {}}], "rdma-shm-1", id="by a file"),
        pytest.param(
            [{"name": "rdma-shm-1"}, {"name": "rdma-shm"}], "rdma-shm-2", id="the next one too"
        ),
    ],
)
def test_a_name_that_is_taken_is_avoided(taken: list[Object], name: str) -> None:
    """A volume that the author mounts elsewhere, or nowhere, never stands in for ours."""
    expected = [AddVolume(name, ADDED.source), mount(name=name)]
    assert injected(volumes.inject, pod(volumes=taken), WANTED) == (expected, [])


def test_what_an_earlier_call_added_is_shared() -> None:
    """A container that came later joins the memory of the others."""
    first = mounting("rdma-shm")
    given = pod(None, first, container("side"), volumes=[{"name": "rdma-shm", **MEMORY}])
    edits, _ = injected(volumes.inject, given, intent(*BOTH, shared_memory="8Gi"))
    assert edits == [mount(SIDE)]


@pytest.mark.parametrize(
    ("own", "whole", "warns"),
    [
        pytest.param({"limits": {"memory": "8Gi"}}, None, True, id="as large as the limit"),
        pytest.param({"limits": {"memory": "9Gi"}}, None, False, id="below the limit"),
        pytest.param(
            {"limits": None}, {"limits": {"memory": 1024}}, True, id="above the pod's limit"
        ),
        pytest.param(
            {"limits": {"memory": "1Ti"}}, {"limits": {"memory": "1"}}, False, id="its own"
        ),
        pytest.param({"limits": {"memory": "much"}}, None, False, id="a limit that is no quantity"),
        pytest.param(None, {"limits": None}, False, id="no limit"),
    ],
)
def test_memory_that_counts_against_the_limit(
    own: Object | None, whole: Object | None, *, warns: bool
) -> None:
    """The author is told where the volume is not below the memory limit, once."""
    given = pod(None, container(resources=own), container("side", resources=own), resources=whole)
    edits, notices = injected(volumes.inject, given, intent(*BOTH, shared_memory="8Gi"))
    assert len(edits) == 3
    assert len(notices) == warns
    assert all("container main: /dev/shm of 8Gi is not below" in text for text in notices)
