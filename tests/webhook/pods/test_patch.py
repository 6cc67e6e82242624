"""Edits into operations, from every state that a place can be in."""

from typing import Any

import jsonpatch
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.pod_strategies import BUDGET, SPECS
from tests.harness.pods import Object, read
from webhook.pods.apply import apply
from webhook.pods.edits import (
    AddCapability,
    AddVolume,
    DropCapability,
    Edit,
    MountVolume,
    RequestResource,
    SelectNode,
    SetAnnotation,
    SetEnv,
    SetSpecField,
    Tolerate,
)
from webhook.pods.patch import Op, escaped, render

MAIN = ("containers", 0)
AT = "/spec/containers/0"
TOLERATION = {"key": "rdma", "operator": "Exists"}
SHM = {"name": "shm", "emptyDir": {"medium": "Memory"}}
MOUNT = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108 the path in the container
ENV = {"name": "A", "value": "1"}


def ops(given: Object, *edits: Edit) -> list[tuple[str, str, Any]]:
    """Return the operations of some edits on a pod."""
    found = render(edits, read(given))
    return [(one.op, one.path, one.value) for one in found]


def annotated(annotations: Any) -> Object:  # noqa: ANN401 JSON is anything
    """Return a pod of these annotations."""
    return {"metadata": {"annotations": annotations}}


def with_spec(**fields: Any) -> Object:  # noqa: ANN401 any field of the spec
    """Return a pod of one container and these fields."""
    return {"spec": {"containers": [{"name": "main"}], **fields}}


def with_main(**fields: Any) -> Object:  # noqa: ANN401 any field of the container
    """Return a pod whose one container has these fields."""
    return {"spec": {"containers": [{"name": "main", **fields}]}}


NOTE = SetAnnotation("rdma.io/a~b", "new")
NOTED = "/metadata/annotations/rdma.io~1a~0b"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            {}, ("add", "/metadata", {"annotations": {"rdma.io/a~b": "new"}}), id="no metadata"
        ),
        pytest.param(
            {"metadata": None},
            ("add", "/metadata", {"annotations": {"rdma.io/a~b": "new"}}),
            id="metadata is null",
        ),
        pytest.param(
            {"metadata": {}},
            ("add", "/metadata/annotations", {"rdma.io/a~b": "new"}),
            id="no annotations",
        ),
        pytest.param(
            annotated(None),
            ("add", "/metadata/annotations", {"rdma.io/a~b": "new"}),
            id="annotations are null",
        ),
        pytest.param(annotated({}), ("add", NOTED, "new"), id="annotations are empty"),
        pytest.param(annotated({"x": "y"}), ("add", NOTED, "new"), id="another annotation"),
        pytest.param(
            annotated({"rdma.io/a~b": "old"}), ("replace", NOTED, "new"), id="another value"
        ),
    ],
)
def test_an_annotation_is_set(given: Object, expected: tuple[str, str, Any]) -> None:
    """Parents are made of what is really there; other annotations are never written over."""
    assert ops(given, NOTE) == [expected]


def test_an_annotation_that_is_there_is_left_alone() -> None:
    """An equal value needs no operation."""
    assert ops(annotated({"rdma.io/a~b": "new"}), NOTE) == []


def test_absent_parents_are_made_once() -> None:
    """Several edits below one absent parent come to one operation."""
    expected = ("add", "/metadata", {"annotations": {"a": "1", "b": "2"}})
    assert ops({}, SetAnnotation("a", "1"), SetAnnotation("b", "2")) == [expected]


@pytest.mark.parametrize(
    ("fields", "edit", "expected"),
    [
        pytest.param(
            {},
            SetSpecField("hostNetwork", value=True),
            ("add", "/spec/hostNetwork", True),
            id="absent",
        ),
        pytest.param(
            {"hostNetwork": None},
            SetSpecField("hostNetwork", value=True),
            ("replace", "/spec/hostNetwork", True),
            id="null",
        ),
        pytest.param(
            {"dnsPolicy": "ClusterFirst"},
            SetSpecField("dnsPolicy", "Default"),
            ("replace", "/spec/dnsPolicy", "Default"),
            id="another value",
        ),
        pytest.param(
            {},
            SelectNode("a/b", "1"),
            ("add", "/spec/nodeSelector", {"a/b": "1"}),
            id="no selector",
        ),
        pytest.param(
            {"nodeSelector": None},
            SelectNode("a/b", "1"),
            ("add", "/spec/nodeSelector", {"a/b": "1"}),
            id="a selector that is null",
        ),
        pytest.param(
            {"nodeSelector": {}},
            SelectNode("a/b", "1"),
            ("add", "/spec/nodeSelector/a~1b", "1"),
            id="a selector that is empty",
        ),
        pytest.param(
            {},
            Tolerate(TOLERATION),
            ("add", "/spec/tolerations", [TOLERATION]),
            id="no tolerations",
        ),
        pytest.param(
            {"tolerations": None},
            Tolerate(TOLERATION),
            ("add", "/spec/tolerations", [TOLERATION]),
            id="tolerations that are null",
        ),
        pytest.param(
            {"tolerations": [{"key": "x"}]},
            Tolerate(TOLERATION),
            ("add", "/spec/tolerations/-", TOLERATION),
            id="another toleration",
        ),
        pytest.param(
            {},
            AddVolume("shm", {"emptyDir": {"medium": "Memory"}}),
            ("add", "/spec/volumes", [SHM]),
            id="no volumes",
        ),
        pytest.param(
            {"volumes": []},
            AddVolume("shm", {"emptyDir": {"medium": "Memory"}}),
            ("add", "/spec/volumes/-", SHM),
            id="volumes that are empty",
        ),
    ],
)
def test_a_field_of_the_spec_is_set(
    fields: Object, edit: Edit, expected: tuple[str, str, Any]
) -> None:
    """Absent, null and empty each get the operation that fits."""
    assert ops(with_spec(**fields), edit) == [expected]


@pytest.mark.parametrize(
    ("fields", "edit"),
    [
        pytest.param({"hostNetwork": True}, SetSpecField("hostNetwork", value=True), id="a field"),
        pytest.param(
            {"nodeSelector": {"a": "2"}}, SelectNode("a", "1"), id="a key of the selector"
        ),
        pytest.param({"tolerations": [TOLERATION]}, Tolerate(TOLERATION), id="a toleration"),
        pytest.param(
            {"volumes": [{"name": "shm"}]}, AddVolume("shm", {}), id="a volume of that name"
        ),
    ],
)
def test_what_the_spec_has_is_kept(fields: Object, edit: Edit) -> None:
    """A place that is taken is left alone where the edit says so."""
    assert ops(with_spec(**fields), edit) == []


REQUEST = RequestResource(MAIN, "a.b/c", "2")
BOTH = {"limits": {"a.b/c": "2"}, "requests": {"a.b/c": "2"}}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param(None, [("add", f"{AT}/resources", BOTH)], id="null"),
        pytest.param(
            {},
            [
                ("add", f"{AT}/resources/limits", {"a.b/c": "2"}),
                ("add", f"{AT}/resources/requests", {"a.b/c": "2"}),
            ],
            id="empty",
        ),
        pytest.param(
            {"limits": None, "requests": {}},
            [
                ("add", f"{AT}/resources/limits", {"a.b/c": "2"}),
                ("add", f"{AT}/resources/requests/a.b~1c", "2"),
            ],
            id="limits are null and requests empty",
        ),
        pytest.param(
            {"limits": {"a.b/c": "1"}, "requests": {"cpu": "1"}},
            [
                ("replace", f"{AT}/resources/limits/a.b~1c", "2"),
                ("add", f"{AT}/resources/requests/a.b~1c", "2"),
            ],
            id="a smaller limit and another request",
        ),
        pytest.param(
            {"limits": {"a.b/c": 2}, "requests": {"a.b/c": "2"}},
            [("replace", f"{AT}/resources/limits/a.b~1c", "2")],
            id="a limit that is written as a number",
        ),
        pytest.param(BOTH, [], id="both are there"),
    ],
)
def test_a_resource_is_requested(resources: Object | None, expected: list[Any]) -> None:
    """Requests and limits hold the same text; cpu and memory stay as they are."""
    assert ops(with_main(resources=resources), REQUEST) == expected


def test_an_absent_field_is_like_null() -> None:
    """A container without ``resources`` gets the whole object."""
    assert ops(with_main(), REQUEST) == [("add", f"{AT}/resources", BOTH)]


KEEPS = SetEnv(MAIN, "A", "1", replaces=False)
FORCES = SetEnv(MAIN, "A", "1", replaces=True)


@pytest.mark.parametrize(
    ("env", "edit", "expected"),
    [
        pytest.param(None, KEEPS, [("add", f"{AT}/env", [ENV])], id="null gets a list"),
        pytest.param([], KEEPS, [("add", f"{AT}/env/-", ENV)], id="an empty list is appended to"),
        pytest.param(
            [{"name": "B"}], FORCES, [("add", f"{AT}/env/-", ENV)], id="others stay first"
        ),
        pytest.param([{"name": "A", "value": "2"}], KEEPS, [], id="the user's value is kept"),
        pytest.param([{"name": "A"}], KEEPS, [], id="the user's empty value is kept"),
        pytest.param([ENV], FORCES, [], id="an equal value is left alone"),
        pytest.param(
            [{"name": "B"}, {"name": "A", "value": "2"}],
            FORCES,
            [("replace", f"{AT}/env/1", ENV)],
            id="another value is replaced in its place",
        ),
        pytest.param(
            [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
            FORCES,
            [("replace", f"{AT}/env/0", ENV)],
            id="a source is replaced as a whole",
        ),
        pytest.param(
            [{"name": "A", "value": "2"}, ENV, {"name": "A"}],
            FORCES,
            [("replace", f"{AT}/env/0", ENV), ("replace", f"{AT}/env/2", ENV)],
            id="each of one name is replaced",
        ),
    ],
)
def test_a_variable_is_set(env: list[Object] | None, edit: Edit, expected: list[Any]) -> None:
    """Ours go to the end; the order of the user's is never changed."""
    assert ops(with_main(env=env), edit) == expected


CONTEXT = f"{AT}/securityContext"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        pytest.param(
            None,
            [("add", CONTEXT, {"capabilities": {"add": ["IPC_LOCK"], "drop": ["NET_RAW"]}})],
            id="null",
        ),
        pytest.param(
            {},
            [("add", f"{CONTEXT}/capabilities", {"add": ["IPC_LOCK"], "drop": ["NET_RAW"]})],
            id="empty",
        ),
        pytest.param(
            {"capabilities": None, "runAsUser": 0},
            [("add", f"{CONTEXT}/capabilities", {"add": ["IPC_LOCK"], "drop": ["NET_RAW"]})],
            id="capabilities are null",
        ),
        pytest.param(
            {"capabilities": {"add": None}},
            [
                ("add", f"{CONTEXT}/capabilities/add", ["IPC_LOCK"]),
                ("add", f"{CONTEXT}/capabilities/drop", ["NET_RAW"]),
            ],
            id="the lists are null and absent",
        ),
        pytest.param(
            {"capabilities": {"add": [], "drop": ["KILL"]}},
            [
                ("add", f"{CONTEXT}/capabilities/add/-", "IPC_LOCK"),
                ("add", f"{CONTEXT}/capabilities/drop/-", "NET_RAW"),
            ],
            id="the lists hold others",
        ),
        pytest.param(
            {"capabilities": {"add": ["ALL"], "drop": ["ALL"]}}, [], id="ALL counts as every one"
        ),
        pytest.param(
            {"capabilities": {"add": ["IPC_LOCK"], "drop": ["NET_RAW"]}}, [], id="both are there"
        ),
    ],
)
def test_capabilities_are_united(context: Object | None, expected: list[Any]) -> None:
    """A capability is added and dropped once, beside what is there."""
    edits = (AddCapability(MAIN, "IPC_LOCK"), DropCapability(MAIN, "NET_RAW"))
    assert ops(with_main(securityContext=context), *edits) == expected


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        pytest.param(None, [("add", f"{AT}/volumeMounts", [MOUNT])], id="null"),
        pytest.param([], [("add", f"{AT}/volumeMounts/-", MOUNT)], id="empty"),
        pytest.param(
            [{"name": "x", "mountPath": "/x"}],
            [("add", f"{AT}/volumeMounts/-", MOUNT)],
            id="another",
        ),
        pytest.param(
            [{"name": "x", "mountPath": "//dev/shm/"}], [], id="the same path, written apart"
        ),
    ],
)
def test_a_volume_is_mounted(mounts: list[Object] | None, expected: list[Any]) -> None:
    """A path is mounted once, however it is written."""
    assert ops(with_main(volumeMounts=mounts), MountVolume(MAIN, MOUNT)) == expected


@pytest.mark.parametrize(
    "edit",
    [
        KEEPS,
        AddCapability(MAIN, "IPC_LOCK"),
        DropCapability(MAIN, "NET_RAW"),
        MountVolume(MAIN, MOUNT),
        Tolerate(TOLERATION),
        AddVolume("shm", {}),
    ],
    ids=lambda edit: type(edit).__name__,
)
@pytest.mark.parametrize("is_empty", [True, False], ids=["an empty list", "no list"])
def test_an_edit_that_comes_twice_is_written_once(edit: Edit, *, is_empty: bool) -> None:
    """Injectors that want the same thing do not make it appear twice."""
    lists: Object = {"env": [], "volumeMounts": []} if is_empty else {}
    given = with_main(**lists, securityContext={"capabilities": {"add": [], "drop": []}})
    if is_empty:
        given["spec"] |= {"tolerations": [], "volumes": []}
    assert len(ops(given, edit, edit)) == 1


def test_each_container_has_its_own_place() -> None:
    """An edit of a native sidecar never reaches an app container."""
    given = with_main() | {}
    given["spec"]["initContainers"] = [{"name": "a"}, {"name": "b", "restartPolicy": "Always"}]
    found = ops(given, SetEnv(("initContainers", 1), "A", "1", replaces=False), KEEPS)
    assert [path for _, path, _ in found] == ["/spec/initContainers/1/env", f"{AT}/env"]


@pytest.mark.parametrize(
    ("key", "pointer"), [("a", "a"), ("a/b", "a~1b"), ("a~b", "a~0b"), ("~1/", "~01~1"), ("", "")]
)
def test_a_key_is_escaped(key: str, pointer: str) -> None:
    """The tilde goes first, so that no escape is escaped again (RFC 6901)."""
    assert escaped(key) == pointer


PLACES = st.just(MAIN)
EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(SetAnnotation, st.sampled_from(("a/b", "c~d")), st.just("x")),
    st.builds(SetSpecField, st.just("hostNetwork"), value=st.just(value=True)),
    st.builds(SelectNode, st.sampled_from(("zone/of", "b/c")), st.just("x")),
    st.builds(Tolerate, st.sampled_from(({"key": "a"}, {"operator": "Exists"}))),
    st.builds(AddVolume, st.sampled_from(("scratch", "new")), st.just({"emptyDir": {}})),
    st.builds(RequestResource, PLACES, st.sampled_from(("rdma/ib", "a/b")), st.just("3")),
    st.builds(SetEnv, PLACES, st.sampled_from(("PATH", "NEW")), st.just("x"), st.booleans()),
    st.builds(AddCapability, PLACES, st.sampled_from(("IPC_LOCK", "NET_RAW"))),
    st.builds(DropCapability, PLACES, st.sampled_from(("KILL", "NET_RAW"))),
    st.builds(
        lambda place, path: MountVolume(place, {"name": "new", "mountPath": path}),
        PLACES,
        st.sampled_from(("/data", "/new")),
    ),
)
METADATA = st.sampled_from(({}, {"metadata": None}, {"metadata": {}}, {"metadata": {"name": "a"}}))


def as_json(found: list[Op]) -> Any:  # noqa: ANN401 JSON is anything
    """Return operations as they are sent."""
    return msgspec.json.decode(msgspec.json.encode(found))


@BUDGET
@given(METADATA, SPECS, st.lists(EDITS, min_size=1, max_size=8))
def test_edits_apply_to_the_whole_pod_and_are_final(
    metadata: Object, spec: Object, edits: list[Edit]
) -> None:
    """An independent library applies them, and the same edits find nothing left to do."""
    given_pod = {**metadata, "spec": spec}
    patch = as_json(render(edits, read(given_pod)))
    patched = jsonpatch.JsonPatch(patch).apply(given_pod)
    assert render(edits, read(patched)) == []


@BUDGET
@given(METADATA, SPECS, st.lists(EDITS, min_size=1, max_size=8))
def test_applying_operations_does_not_change_them(
    metadata: Object, spec: Object, edits: list[Edit]
) -> None:
    """What is sent after the self-check is what was checked."""
    given_pod = read({**metadata, "spec": spec})
    found = render(edits, given_pod)
    before = as_json(found)
    apply(found, given_pod)
    assert as_json(found) == before


@BUDGET
@given(METADATA, SPECS, st.lists(EDITS, min_size=1, max_size=8))
def test_rendering_changes_nothing(metadata: Object, spec: Object, edits: list[Edit]) -> None:
    """The pod is only read; the same edits give the same operations again."""
    given_pod = read({**metadata, "spec": spec})
    assert as_json(render(edits, given_pod)) == as_json(render(edits, given_pod))
    assert msgspec.to_builtins(given_pod) == msgspec.to_builtins(read({**metadata, "spec": spec}))
