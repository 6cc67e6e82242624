"""The verb preview on objects of ours: what who applies them would be told."""

import json
from pathlib import Path

import pytest

from webhook.cli.main import main

NETWORK = """\
---
apiVersion: rdma.io/v1alpha1
kind: RDMANetwork
metadata: {name: roce}
spec:
  mode: SRIOVEthernet
  partition: {type: VLAN, min: 200, max: 299}
  rails: [{name: r0, resourceName: nvidia.com/roce}]
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: plain, namespace: team-a}
spec: {containers: [{name: main}]}
"""


def _policy(namespace: str, number: int, **spec: str) -> str:
    more = "".join(f", {key}: {value}" for key, value in spec.items())
    return f"""\
---
apiVersion: rdma.io/v1alpha1
kind: RDMAPolicy
metadata: {{name: default, namespace: {namespace}}}
spec: {{networks: [{{name: roce, partitions: [{{name: main, number: {number}}}]}}]{more}}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def _preview(text: str, *flags: str, held: str = "") -> int:
    Path("it.yaml").write_text(text, encoding="utf-8")
    if held:
        Path("held").mkdir()
        Path("held/it.yaml").write_text(held, encoding="utf-8")
        flags = (*flags, "--from", "held")
    return main(["preview", "-f", "it.yaml", *flags])


def test_objects_alone_are_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """No pod is needed to see that a network and its policy fit."""
    assert _preview(NETWORK + _policy("team-a", 210)) == 0
    assert capsys.readouterr().out.splitlines() == [
        *("RDMANetwork roce", "  accepted", ""),
        *("RDMAPolicy team-a/default", "  accepted", ""),
        "2 objects: 2 accepted, 0 refused",
    ]


def test_a_refused_policy_is_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    """Reason, sentence and where the fix is."""
    assert _preview(NETWORK + _policy("team-a", 310)) == 1
    out = capsys.readouterr().out
    assert "RDMAPolicy team-a/default\n  refused: PartitionNumberInvalid\n  RDMAPolicy" in out
    assert "VLAN 310 is outside RDMANetwork roce's range 200 to 299" in out
    assert "  how to fix it: docs/reasons.md#partitionnumberinvalid\n" in out
    assert out.endswith("2 objects: 1 accepted, 1 refused\n")


def test_two_policies_of_the_files_are_held_against_each_other() -> None:
    """Every document counts as applied, so both are in conflict."""
    assert _preview(NETWORK + _policy("team-a", 210) + _policy("team-b", 210)) == 1
    assert _preview(NETWORK + _policy("team-a", 210) + _policy("team-b", 211)) == 0


def test_a_policy_is_held_against_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """The folder is the cluster: another tenant there has the number."""
    assert _preview(_policy("team-a", 210), held=NETWORK + _policy("team-b", 210)) == 1
    assert "VLAN 210 of fabric roce belongs to another tenant" in capsys.readouterr().out


def test_what_the_folder_holds_already_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """The policy is changed, and its number was there before."""
    held = NETWORK + _policy("team-a", 210) + _policy("team-b", 210)
    assert _preview(_policy("team-a", 210, enforcement="Enforce"), held=held) == 0
    assert "  warning: spec.networks[roce]: VLAN 210 of fabric" in capsys.readouterr().out


def test_a_network_that_is_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    """With a folder it is missing; without one the cluster may have it."""
    assert _preview(_policy("team-a", 210)) == 0
    assert "warning" not in capsys.readouterr().out
    assert _preview(_policy("team-a", 210), held=_policy("team-b", 211)) == 0
    assert "warning: spec.networks: there is no RDMANetwork roce yet" in capsys.readouterr().out


def test_beside_pods_only_what_has_to_be_said_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Who previews a pod with its network does not read about the network."""
    assert _preview(POD + NETWORK + _policy("team-a", 210)) == 0
    out = capsys.readouterr().out
    assert "accepted" not in out
    assert out.endswith("1 pod template: 1 left as they are\n")
    assert _preview(POD + NETWORK + _policy("team-a", 310)) == 1
    assert "refused: PartitionNumberInvalid" in capsys.readouterr().out


def test_machines_read_it_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One entry for each object, in the order of the files."""
    policy = _policy("team-a", 310) + _policy("team-b", 210, minimumIsolation="Hard")
    assert _preview(NETWORK + policy, "-o", "json") == 1
    network, refused, accepted = json.loads(capsys.readouterr().out)["objects"]
    (warning,) = network.pop("warnings")
    assert warning.startswith("spec.partition: 1 policy names numbers outside it: team-a")
    assert network == {
        "object": "RDMANetwork roce",
        "verdict": "Unchanged",
        "reason": None,
        "message": None,
        "fix": None,
    }
    assert (refused["verdict"], refused["reason"]) == ("Denied", "PartitionNumberInvalid")
    assert refused["fix"] == "docs/reasons.md#partitionnumberinvalid"
    assert (accepted["object"], accepted["warnings"]) == ("RDMAPolicy team-b/default", [])


@pytest.mark.parametrize("output", ["yaml", "patch"])
def test_beside_machines_formats_it_goes_to_standard_error(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard output holds pods or patches and nothing else."""
    policy = _policy("team-a", 310) + _policy("team-b", 210)
    assert _preview(NETWORK + policy, "-o", output) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "preview: RDMAPolicy team-a/default: PartitionNumberInvalid: " in said.err
    assert "preview: warning: RDMANetwork roce: spec.partition: 1 policy" in said.err


def test_what_does_not_parse_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    """It is a problem of the files already, and no object to judge."""
    assert _preview(POD + _policy("team-a", 210, enforcement="Later")) == 0
    said = capsys.readouterr()
    assert said.err.count("spec.enforcement") == 1
    assert "RDMAPolicy" not in said.out
