"""Golden cases: what each kind of pod becomes, as data."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.harness import golden
from tests.harness.golden_case import Case, Expect, Given, Outcome
from tests.harness.golden_checks import broken, check
from tests.harness.golden_rewrite import main, written

CASES = {str(path.relative_to(golden.GOLDEN).with_suffix("")): path for path in golden.discover()}
NAME = re.compile(r"([a-z_]+/)+[a-z0-9]+(-[a-z0-9]+)*")


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
    assert NAME.fullmatch(name)


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
def test_a_case_is_written_in_one_style(name: str) -> None:
    """``make golden`` changes what the engine answers, never how it is written down."""
    text, case = CASES[name].read_text(), golden.load(CASES[name])
    assert written(text, case, case.expect) == text


def test_rewriting_brings_the_answer_back(tmp_path: Path) -> None:
    """``make golden`` fills in what was left out, and keeps what was written by hand."""
    path = CASES["modes/macvlan-one-selection-a-rail"]
    case = golden.load(path)
    bare = case.expect.model_copy(update={"patch": (), "verdict": "Unchanged"})
    other = tmp_path / "case.yaml"
    other.write_text(written(path.read_text(), case, bare))
    main([str(other)])
    assert other.read_text() == path.read_text()


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "bare", "annotations": {"a": "1"}},
    "spec": {"containers": [{"name": "c", "image": "x", "env": [{"name": "A", "value": "1"}]}]},
}
"""A pod that asks for nothing, so that no answer of the engine hides what a patch does."""
ENV = "/spec/containers/0/env"


@pytest.mark.parametrize(
    ("problem", "op", "path", "value"),
    [
        ("does not apply", "add", "/spec/affinity/x", 1),
        ("none of ours", "remove", "/metadata/annotations/a", None),
        ("is gone", "remove", "/metadata/annotations/a", None),
        ("not ours", "add", "/spec/nodeName", "node-1"),
        ("not ours", "add", "/spec/containers/0/resources", {"limits": {"cpu": "1"}}),
        ("does not apply", "replace", "/spec/hostNetwork", False),
        ("is there", "add", ENV, [{"name": "A", "value": "1"}]),
        ("not ours", "add", "/metadata/annotations", {"a": "1"}),
        ("is gone", "add", "/metadata/annotations", {"b": "1"}),
        ("was 'A' and is 'B'", "add", f"{ENV}/0", {"name": "B", "value": "1"}),
        ("was", "replace", ENV, [{"name": "A", "value": "2"}]),
        ("schema", "add", f"{ENV}/-", {"name": "B", "values": "2"}),
    ],
)
def test_a_harmful_patch_is_noticed(problem: str, op: str, path: str, value: object) -> None:
    """Each promise about patches is one that a patch could break."""
    case = Case(why="A.", given=Given(pod=POD), expect=Expect(verdict="Patched"))
    found = Outcome(
        verdict="Patched",
        waits=None,
        code=None,
        reason=None,
        message="",
        warnings=(),
        patch=({"op": op, "path": path, "value": value},),
    )
    assert any(problem in text for text in broken(case, POD, found))
