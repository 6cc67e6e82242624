"""The preview for machines: YAML, JSON and patches."""

import json
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml

from webhook.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "deploy" / "examples"


def _run(capsys: pytest.CaptureFixture[str], output: str, *names: str) -> tuple[int, str, str]:
    files = [part for name in names for part in ("-f", str(EXAMPLES / "pods" / f"{name}.yaml"))]
    code = main(["preview", *files, "--from", str(EXAMPLES), "-o", output])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_yaml_holds_the_pods_as_they_would_be_stored(capsys: pytest.CaptureFixture[str]) -> None:
    """One document a template; a refused one is said on the other stream."""
    code, out, err = _run(capsys, "yaml", "pytorchjob", "refused")
    master, worker = yaml.safe_load_all(out)
    assert code == 1
    assert "Pod team-b/refused: NetworkNotGranted: " in err
    for pod in (master, worker):
        assert pod["metadata"]["namespace"] == "team-a"
        assert pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/ib_r0"] == "1"


def test_a_patch_turns_the_pod_into_the_one_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """An independent library applies it to what the API server would have handed over."""
    _, out, _ = _run(capsys, "patch", "host-network")
    source = yaml.safe_load((EXAMPLES / "pods" / "host-network.yaml").read_text())
    resources = source["spec"]["containers"][0]["resources"]
    resources["requests"] = dict(resources["limits"])
    source["spec"]["dnsPolicy"] = "ClusterFirst"
    _, shown, _ = _run(capsys, "yaml", "host-network")
    assert jsonpatch.apply_patch(source, json.loads(out)) == yaml.safe_load(shown)


def test_json_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts find verdict, reason, networks, containers, changes, quota and patch."""
    code, out, _ = _run(capsys, "json", "macvlan", "refused", "job")
    equipped, refused, job = json.loads(out)["templates"]
    assert code == 1
    assert (equipped["verdict"], equipped["reason"]) == ("Patched", None)
    (network,) = equipped["networks"]
    assert (network["name"], network["number"]) == ("roce", "VLAN 210")
    assert [rail["interface"] for rail in network["rails"]] == ["rdma0", "rdma1"]
    assert equipped["patch"]
    assert equipped["changes"]
    assert (refused["verdict"], refused["patch"]) == ("Denied", [])
    assert refused["fix"] == "docs/reasons.md#networknotgranted"
    assert job["quota"][0] == {"resource": "requests.rdma/hca_r0", "perPod": 1, "total": 4}


def test_json_says_what_the_files_notes_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An annotation on the wrong level is a note of its own."""
    path = tmp_path / "it.yaml"
    path.write_text(
        "apiVersion: apps/v1\nkind: Deployment\n"
        "metadata: {name: d, annotations: {rdma.io/network: x}}\n"
        "spec: {template: {spec: {containers: [{name: c}]}}}\n"
    )
    assert main(["preview", "-f", str(path), "-o", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    (note,) = found["notes"]
    assert note.startswith("Deployment default/d: metadata.annotations[rdma.io/network]: ")
    assert main(["preview", "-f", str(path), "-o", "patch"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, "metadata.annotations" in captured.err) == ("[]\n", True)
