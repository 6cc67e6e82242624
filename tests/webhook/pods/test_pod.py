"""Reading the part of a pod that we touch."""

import msgspec
import pytest

from webhook.pods import pod as pods
from webhook.pods.pod import Container, Pod, VolumeMount

MAIN: Container = {"name": "main"}
SIDE: Container = {"name": "side"}
SETUP: Container = {"name": "setup"}
NATIVE: Container = {"name": "native", "restartPolicy": "Always"}


@pytest.mark.parametrize("given", [{}, {"metadata": None}, {"metadata": {}}])
def test_metadata_may_be_missing(given: Pod) -> None:
    """Where a pod has no metadata it has no annotations, no labels and no name."""
    assert pods.annotations(given) == {}
    assert pods.labels(given) == {}
    assert pods.called(given) == ""


@pytest.mark.parametrize("empty", [None, {}])
def test_annotations_and_labels_may_be_missing(empty: dict[str, str] | None) -> None:
    """Null and empty read the same."""
    given: Pod = {"metadata": {"annotations": empty, "labels": empty}}
    assert pods.annotations(given) == {}
    assert pods.labels(given) == {}


def test_annotations_and_labels_are_given() -> None:
    """What is there is returned as it is."""
    given: Pod = {"metadata": {"annotations": {"a": "1"}, "labels": {"b": "2"}}}
    assert pods.annotations(given) == {"a": "1"}
    assert pods.labels(given) == {"b": "2"}


@pytest.mark.parametrize("given", [{}, {"spec": None}, {"spec": {}}])
def test_a_spec_may_be_missing(given: Pod) -> None:
    """A pod without a spec has an empty one, and no containers."""
    assert pods.spec(given) == {}
    assert list(pods.containers(given)) == []


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        pytest.param({"name": "a"}, "a", id="a name is the name"),
        pytest.param({"name": "a", "generateName": "b-"}, "a", id="a name goes first"),
        pytest.param({"generateName": "b-"}, "b-*", id="a generated name has a star"),
        pytest.param({"name": "", "generateName": "b-"}, "b-*", id="an empty name is none"),
        pytest.param({"name": None, "generateName": None}, "", id="no name at all"),
    ],
)
def test_people_know_a_pod_by(metadata: pods.Metadata, name: str) -> None:
    """A pod without a name yet is known by what its name will begin with."""
    assert pods.called({"metadata": metadata}) == name


def test_app_containers_come_first() -> None:
    """Containers are read in the order in which they are written, app containers before others."""
    given: Pod = {"spec": {"containers": [MAIN, SIDE], "initContainers": [SETUP, NATIVE]}}
    assert list(pods.containers(given)) == [
        (("containers", 0), MAIN),
        (("containers", 1), SIDE),
        (("initContainers", 0), SETUP),
        (("initContainers", 1), NATIVE),
    ]


def test_a_place_leads_back_to_its_container() -> None:
    """The place that goes with a container finds it again."""
    given: Pod = {"spec": {"containers": [MAIN], "initContainers": [SETUP, NATIVE]}}
    for place, container in pods.containers(given):
        assert pods.container_at(given, place) is container


def test_a_place_that_is_not_there_is_an_error() -> None:
    """A place of another pod is a bug, not an empty container."""
    with pytest.raises(IndexError):
        pods.container_at({}, ("containers", 0))


@pytest.mark.parametrize(
    ("place", "container", "runs"),
    [
        pytest.param(("containers", 0), MAIN, True, id="an app container"),
        pytest.param(("initContainers", 0), NATIVE, True, id="a native sidecar"),
        pytest.param(("initContainers", 0), SETUP, False, id="a plain init container"),
        pytest.param(
            ("initContainers", 0), {"restartPolicy": None}, False, id="an init container with null"
        ),
    ],
)
def test_what_runs_along(place: pods.Place, container: Container, *, runs: bool) -> None:
    """An init container runs for the pod's life only where it restarts always."""
    assert pods.runs_along(place, container) is runs


@pytest.mark.parametrize(
    ("container", "privileged"),
    [
        pytest.param({}, False, id="nothing is said"),
        pytest.param({"securityContext": None}, False, id="null is said"),
        pytest.param({"securityContext": {"privileged": None}}, False, id="null is said inside"),
        pytest.param({"securityContext": {"privileged": False}}, False, id="no is said"),
        pytest.param({"securityContext": {"privileged": True}}, True, id="yes is said"),
    ],
)
def test_privileged_is_what_says_so(container: Container, *, privileged: bool) -> None:
    """Only an explicit true makes a container privileged."""
    assert pods.is_privileged(container) is privileged


@pytest.mark.parametrize("path", ["/dev/shm", "/dev/shm/", "//dev//shm", "dev/shm", "/dev/./shm/"])  # noqa: S108
def test_a_mount_has_one_spelling(path: str) -> None:
    """However a path is written, it is compared as one."""
    mount: VolumeMount = {"mountPath": path}
    assert pods.mount_path(mount) == "/dev/shm"  # noqa: S108


def test_a_mount_without_path_is_the_root() -> None:
    """A mount that says no path is none of the paths that we look for."""
    assert pods.mount_path({}) == "/"


@pytest.mark.parametrize(
    ("names", "free"),
    [
        pytest.param(None, "ours", id="there are no volumes"),
        pytest.param(["other"], "ours", id="others are there"),
        pytest.param(["ours"], "ours-1", id="the name is taken"),
        pytest.param(["ours-1", "ours"], "ours-2", id="two names are taken"),
    ],
)
def test_a_new_volume_finds_a_name(names: list[str] | None, free: str) -> None:
    """The author's own volumes are never taken for ours."""
    volumes: list[pods.Volume] | None = None if names is None else [{"name": n} for n in names]
    assert pods.free_volume_name({"spec": {"volumes": volumes}}, "ours") == free


def test_what_we_do_not_read_is_skipped() -> None:
    """Fields of tomorrow do not stop the decoding, and types of those we read are checked."""
    text = b'{"spec":{"containers":[{"name":"a","next":{"x":1}}],"later":[]},"status":{}}'
    assert msgspec.json.decode(text, type=Pod) == {"spec": {"containers": [{"name": "a"}]}}
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"spec":{"hostNetwork":"yes"}}', type=Pod)
