"""The verb ``crds``: prints, writes and compares, the kinds or the admission policies."""

import argparse
from pathlib import Path

import pytest
import yaml

from policies.manifests.admission import admission_policies
from webhook.cli import crds

DEPLOY = Path(__file__).parents[3] / "deploy"
SHIPPED = DEPLOY / "crds"
FILES = [
    "rdma.io_rdmanetworks.yaml",
    "rdma.io_rdmapartitions.yaml",
    "rdma.io_rdmapolicies.yaml",
]
ADMISSION = "--admission-policies"
ADMISSION_FILES = ["rdma-grant.yaml", "rdma-status.yaml", "rdma-template.yaml"]


def _run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    crds.configure(parser)
    return crds.run(parser.parse_args(arguments))


def test_it_prints_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Without flags the CRDs are one stream of documents, which kubectl takes as it is."""
    assert _run() == 0
    kinds = [crd["spec"]["names"]["kind"] for crd in yaml.safe_load_all(capsys.readouterr().out)]
    assert kinds == ["RDMANetwork", "RDMAPartition", "RDMAPolicy"]


def test_it_writes_one_file_for_each_kind(tmp_path: Path) -> None:
    """The folder is made where it is not there, and what was written is found equal."""
    folder = tmp_path / "new"
    assert _run("--output", str(folder)) == 0
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert _run("--check", str(folder)) == 0


def test_it_names_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed file and a missing one are named, the others not."""
    _run("--output", str(tmp_path))
    (tmp_path / FILES[0]).write_text("changed")
    (tmp_path / FILES[1]).unlink()
    assert _run("--check", str(tmp_path)) == 1
    said = capsys.readouterr().err
    assert [name for name in FILES if name in said] == FILES[:2]


def test_the_shipped_files_are_current() -> None:
    """What is checked in is what the models say; ``make crds`` writes it."""
    assert _run("--check", str(SHIPPED)) == 0


def test_the_files_are_listed_in_the_kustomization() -> None:
    """Applying the folder with ``-k`` applies every kind."""
    listed = yaml.safe_load((SHIPPED / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == FILES


def test_it_prints_the_admission_policies(capsys: pytest.CaptureFixture[str]) -> None:
    """With the flag it is each policy and its binding that are printed, the CEL as it was made."""
    assert _run(ADMISSION) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert printed == [one for policy in admission_policies() for one in policy.documents()]


def test_it_writes_the_admission_policies(tmp_path: Path) -> None:
    """One file for each policy with its binding; they are compared with the same flag."""
    assert _run(ADMISSION, "--output", str(tmp_path)) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ADMISSION_FILES
    assert _run(ADMISSION, "--check", str(tmp_path)) == 0
    assert _run("--check", str(tmp_path)) == 1


def test_the_shipped_admission_policies_are_current() -> None:
    """What is checked in is what the rules say, and every file is listed."""
    shipped = DEPLOY / "admission"
    assert _run(ADMISSION, "--check", str(shipped)) == 0
    listed = yaml.safe_load((shipped / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == ADMISSION_FILES
