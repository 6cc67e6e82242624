"""The verb ``crds``: prints, writes and compares."""

import argparse
from pathlib import Path

import pytest
import yaml

from webhook.cli import crds

SHIPPED = Path(__file__).parents[3] / "deploy" / "crds"
FILES = [
    "rdma.io_rdmanetworks.yaml",
    "rdma.io_rdmapartitions.yaml",
    "rdma.io_rdmapolicies.yaml",
]


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
