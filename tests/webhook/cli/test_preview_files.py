"""Files that people really have: mistakes, odd encodings, bombs. One sentence each."""

import json
from pathlib import Path

import pytest

from webhook.cli.main import main
from webhook.cli.preview import octals

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"


def _levels(count: int) -> str:
    """Return a document whose last line stands for nine to the count values."""
    below = [", ".join([f"*a{level - 1}"] * 9) for level in range(1, count)]
    lines = [f"a{level}: &a{level} [{one}]" for level, one in enumerate(below, start=1)]
    return "\n".join(["a0: &a0 [x]", *lines])


CASES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "holds no object"),
    "not UTF-8": (b"a: \xff\n", "not UTF-8 at byte 4"),
    "a list": (b"[1, 2]", "document 1, line 1: got a list, want a Kubernetes object"),
    "a text": (b"words", "document 1, line 1: got a str, want a Kubernetes object"),
    "a mistake in the second document": (
        POD.encode() + b"---\na: b\n c: d\n",
        "document 2, line 7: not YAML: mapping values are not allowed in this context",
    ),
    "a key twice": (b"a: 1\na: 2\n", "document 1, line 2: not YAML: key 'a' is there twice"),
    "a bomb of aliases": (_levels(9).encode(), "line 7: aliases stand for more than 1,000,000"),
    "a bomb of merges": (
        _levels(9).replace("[x]", "{k: v}").replace("[", "{<<: [").replace("]", "]}").encode(),
        "line 7: aliases stand for more than 1,000,000",
    ),
    "an alias inside of itself": (b"a: &a [*a]", "line 1: alias *a stands inside of itself"),
    "nested too deep": (b"[" * 100_000, "document 1, line 1: not YAML: "),
    "broken JSON": (b'{"kind": ', "not YAML"),
    "no pod": (
        b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
        "the files hold no pod, no",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), CASES.values(), ids=list(CASES))
def test_what_cannot_be_used_is_said_in_a_sentence(
    content: bytes, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """File, document and line; code 2."""
    path = tmp_path / "it.yaml"
    path.write_bytes(content)
    assert main(["preview", "-f", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line
    assert str(path) in line or "no pod" in sentence


NODE = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {nvidia.com/ib_r0: "8"}}
"""
ASKING = """
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a, annotations: {rdma.io/network: train-ib}}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: "1"}}}]}
"""


@pytest.mark.parametrize(
    ("nodes", "is_said"),
    [(NODE, True), (NODE.replace("ib_r0: ", 'ib_r1: "8", nvidia.com/ib_r0: '), False), ("", False)],
    ids=["a rail's devices are missing", "all are there", "nodes are not known"],
)
def test_a_network_that_no_node_advertises_is_said(
    nodes: str, *, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nodes in the files count as nodes of the cluster, not as workloads."""
    path = tmp_path / "it.yaml"
    path.write_text(f"{nodes}---{ASKING}")
    assert main(["preview", "--from", "deploy/examples", "-f", str(path)]) == 0
    said = capsys.readouterr().out
    warning = "network train-ib: no node advertises nvidia.com/ib_r1, so the pod stays Pending"
    assert (warning in said) is is_said
    assert "1 pod template: 1 equipped" in said


def test_a_missing_file_and_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are named; every file is tried."""
    assert main(["preview", "-f", str(tmp_path / "absent"), "-f", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "absent: cannot be read: No such file or directory" in err
    assert f"{tmp_path}: cannot be read: Is a directory" in err


def test_anchors_that_people_use_are_read(tmp_path: Path) -> None:
    """A few aliases are no bomb; what they stand for is written out."""
    path = tmp_path / "it.yaml"
    path.write_text(
        "apiVersion: v1\nkind: List\nitems:\n- &p\n"
        "  apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n  spec: {containers: [{name: c}]}\n"
        "- <<: *p\n  metadata: {name: q}\n",
        encoding="utf-8",
    )
    assert main(["preview", "-f", str(path)]) == 0


def test_json_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A List of JSON objects, as kubectl prints it."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    path = tmp_path / "it.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, pod]}))
    assert main(["preview", "-f", str(path)]) == 0
    assert "2 pod templates: 2 left as they are" in capsys.readouterr().out


def test_a_kind_of_ours_of_another_version_is_no_workload(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is reported with the version that we read."""
    path = tmp_path / "it.yaml"
    path.write_text(
        "apiVersion: rdma.io/v1\nkind: RDMAPolicy\nmetadata: {name: default}\n---\n" + POD
    )
    assert main(["preview", "-f", str(path)]) == 0
    assert "apiVersion: got rdma.io/v1, want rdma.io/v1alpha1" in capsys.readouterr().err


def test_octal_numbers_are_pointed_out() -> None:
    """0100 looks like a hundred, and is 64."""
    text = "apiVersion: rdma.io/v1alpha1\nnumber: 0100\nquota: 10\nmin: 0x10 # max: 010\nmax: 00\n"
    assert list(octals.surprises(text)) == [
        "line 2: number: 0100 is octal and means 64; write 100 or 0x…",
        "line 5: max: 00 is octal and means 0; write 0 or 0x…",
    ]
    assert not list(octals.surprises("number: 0100"))
    assert len(list(octals.surprises("rdma.io/\n" + "min: 010\n" * 20))) == octals.MOST


def test_large_inputs_are_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hundreds of networks, and a pod of some ten thousand lines."""
    networks = [
        {
            "apiVersion": "rdma.io/v1alpha1",
            "kind": "RDMANetwork",
            "metadata": {"name": f"net-{number}"},
            "spec": {
                "mode": "DeviceOnly",
                "rails": [{"name": "r0", "resourceName": f"rdma/hca_{number}"}],
            },
        }
        for number in range(600)
    ]
    policy = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPolicy",
        "metadata": {"name": "default"},
        "spec": {"networks": [{"name": f"net-{number}"} for number in range(16)]},
    }
    env = [{"name": f"V{number}", "value": "x" * 40} for number in range(5000)]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "annotations": {"rdma.io/network": "net-3,net-5"}},
        "spec": {"containers": [{"name": "c", "env": env}]},
    }
    path = tmp_path / "it.json"
    listed = {"apiVersion": "v1", "kind": "List", "items": [*networks, policy, pod]}
    path.write_text(json.dumps(listed))
    assert main(["preview", "-f", str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) < 100
