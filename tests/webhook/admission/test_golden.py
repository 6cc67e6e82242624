"""Golden cases: what each kind of pod becomes, as data."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.harness import golden
from tests.harness.golden_checks import check
from tests.harness.golden_rewrite import rewritten

CASES = {str(path.relative_to(golden.GOLDEN).with_suffix("")): path for path in golden.discover()}
KEBAB = r"[a-z0-9]+(-[a-z0-9]+)*"


@pytest.mark.parametrize("name", CASES)
def test_a_case_holds(name: str) -> None:
    """The answer is the expected one; its patch is safe, valid and final."""
    assert not check(golden.load(CASES[name]))


def test_there_are_cases() -> None:
    """Discovery finds the folders, and takes no cluster for a case."""
    assert len(CASES) > 200
    assert not any(name.startswith("clusters") for name in CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_case_says_why(name: str) -> None:
    """A reviewer reads one sentence, and the file's name is one too."""
    case = golden.load(CASES[name])
    assert case.why.endswith(".")
    assert all(part.replace("_", "-").replace("-", "").isalnum() for part in name.split("/"))
    assert name == name.lower()


def test_a_wrong_expectation_is_noticed(tmp_path: Path) -> None:
    """The runner compares; it does not only run."""
    text = next(iter(CASES.values())).read_text().replace("verdict: Patched", "verdict: Unchanged")
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    assert any(problem.startswith("verdict:") for problem in check(golden.load(path)))


def test_an_unknown_key_is_a_mistake(tmp_path: Path) -> None:
    """A misspelt key never makes a case that checks nothing."""
    path = tmp_path / "misspelt.yaml"
    path.write_text("why: A.\ngiven: {pods: {}}\nexpect: {verdict: Unchanged}\n")
    with pytest.raises(ValidationError, match="pods"):
        golden.load(path)


@pytest.mark.parametrize("name", CASES)
def test_rewriting_changes_nothing(name: str) -> None:
    """``make golden`` on a case that holds leaves the file as it is."""
    text = CASES[name].read_text()
    assert rewritten(text, golden.load(CASES[name])) == text
