"""Defaults by /etc/nccl.conf."""

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import Object, container, pod
from webhook.injectors import nccl_conf
from webhook.pods.edits import AddVolume, MountVolume, SetAnnotation

BY_FILE = equipped(env_by_file=True)
DEFAULTS = (("NCCL_IB_SL", "1"), ("NCCL_DEBUG", "WARN"))
NOTE = SetAnnotation("rdma.io/nccl-conf", "NCCL_IB_SL=1\nNCCL_DEBUG=WARN\n")
SOURCE = {
    "downwardAPI": {
        "items": [
            {
                "path": "nccl.conf",
                "fieldRef": {"fieldPath": "metadata.annotations['rdma.io/nccl-conf']"},
            }
        ]
    }
}


def mount(place: tuple[str, int] = MAIN, name: str = "rdma-nccl-conf") -> MountVolume:
    """Return the mount of the file."""
    file = {"name": name, "mountPath": "/etc/nccl.conf", "subPath": "nccl.conf", "readOnly": True}
    return MountVolume(place, file)


def test_the_file_is_an_annotation() -> None:
    """The downward API hands the annotation's text to the container."""
    edits, notices = injected(nccl_conf.inject, pod(), intent(BY_FILE, env=DEFAULTS))
    assert edits == [NOTE, AddVolume("rdma-nccl-conf", SOURCE), mount()]
    assert notices == []


def test_only_containers_that_need_it_get_the_file() -> None:
    """A container without another source of variables gets them as such."""
    wanted = intent(equipped(), equipped(SIDE, name="side", env_by_file=True), env=DEFAULTS)
    edits, _ = injected(nccl_conf.inject, pod(None, container(), container("side")), wanted)
    assert edits == [NOTE, AddVolume("rdma-nccl-conf", SOURCE), mount(SIDE)]


@pytest.mark.parametrize(
    ("one", "env"),
    [
        pytest.param(equipped(), DEFAULTS, id="no container needs it"),
        pytest.param(BY_FILE, (), id="there are no defaults"),
    ],
)
def test_without_need_there_is_no_file(one: object, env: tuple[tuple[str, str], ...]) -> None:
    """The annotation is written only where somebody reads it."""
    assert injected(nccl_conf.inject, pod(), intent(equipped=(one,), env=env)) == ([], [])


def test_forced_values_are_not_in_the_file() -> None:
    """They are set as variables, which win over the file."""
    wanted = intent(BY_FILE, env=DEFAULTS, forced_env=(("NCCL_DEBUG", "INFO"),))
    edits, notices = injected(nccl_conf.inject, pod(), wanted)
    assert edits[0] == SetAnnotation("rdma.io/nccl-conf", "NCCL_IB_SL=1\n")
    assert notices == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("UCX_TLS", "rc", id="of another library"),
        pytest.param("NCCL_X", "a\nb", id="of two lines"),
        pytest.param("NCCL_X", "é" * 2040, id="of too many bytes"),
    ],
)
def test_what_the_file_cannot_hold_is_told(name: str, value: str) -> None:
    """The author learns which defaults are missing in that container."""
    wanted = intent(BY_FILE, env=(*DEFAULTS, (name, value)))
    edits, notices = injected(nccl_conf.inject, pod(), wanted)
    assert edits[0] == NOTE
    assert notices == [f"container main gets defaults by /etc/nccl.conf, which cannot hold {name}"]


def test_a_file_of_nothing_is_not_written() -> None:
    """Where no default has a place in the file there is none."""
    edits, notices = injected(nccl_conf.inject, pod(), intent(BY_FILE, env=(("UCX_TLS", "rc"),)))
    assert edits == []
    assert len(notices) == 1


def test_the_file_has_four_kibibytes() -> None:
    """The largest file fits; annotations of a pod share one limit."""
    wanted = intent(BY_FILE, env=(("NCCL_X", "x" * (4096 - len("NCCL_X=\n"))),))
    edits, notices = injected(nccl_conf.inject, pod(), wanted)
    assert len(edits) == 3
    assert notices == []


@pytest.mark.parametrize("path", ["/etc/nccl.conf", "//etc/nccl.conf"])
def test_the_users_own_file_is_kept(path: str) -> None:
    """A file that is mounted there already goes before ours."""
    given = pod(None, container(volumeMounts=[{"name": "mine", "mountPath": path}]))
    assert injected(nccl_conf.inject, given, intent(BY_FILE, env=DEFAULTS)) == ([NOTE], [])


@pytest.mark.parametrize(
    ("volumes", "name", "is_there"),
    [
        pytest.param([{"name": "theirs", **SOURCE}], "theirs", True, id="an earlier call added it"),
        pytest.param(
            [{"name": "rdma-nccl-conf", "configMap": {}}], "rdma-nccl-conf-1", False, id="taken"
        ),
        pytest.param(
            [{"name": "rdma-nccl-conf", "downwardAPI": {"items": []}}],
            "rdma-nccl-conf-1",
            False,
            id="taken by another file of the downward API",
        ),
    ],
)
def test_the_volume_is_found_again(volumes: list[Object], name: str, *, is_there: bool) -> None:
    """A volume of the author never stands in for ours, and ours is not added twice."""
    edits, _ = injected(nccl_conf.inject, pod(volumes=volumes), intent(BY_FILE, env=DEFAULTS))
    added = [] if is_there else [AddVolume(name, SOURCE)]
    assert edits == [NOTE, *added, mount(name=name)]
