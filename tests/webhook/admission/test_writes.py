"""Cases of writes: what each request for an object of ours is answered, as data."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from policies.crosschecks import CHECKS
from tests.harness import writes
from webhook.admission.review import MAX_WARNING

CASES = {str(path.relative_to(writes.FOLDER).with_suffix("")): path for path in writes.discover()}
NAME = re.compile(r"(networks|partitions|policies)/[a-z0-9]+(-[a-z0-9]+)*")


@pytest.mark.parametrize("name", CASES)
def test_a_case_holds(name: str) -> None:
    """Code, reason, message and warnings are the expected ones, and nothing else is said."""
    case = writes.load(CASES[name])
    assert writes.answered(case.given) == case.expect


@pytest.mark.parametrize("name", CASES)
def test_a_case_says_why(name: str) -> None:
    """A reviewer reads one sentence, and the file's name is one too."""
    assert writes.load(CASES[name]).why.endswith(".")
    assert NAME.fullmatch(name)


def test_every_check_has_cases() -> None:
    """Each kind and operation that is judged is met with a word and without."""
    told = {
        (case.given.kind, case.given.operation, case.expect == writes.Expect())
        for case in map(writes.load, CASES.values())
    }
    assert {(*check, silent) for check in CHECKS for silent in (True, False)} <= told


@pytest.mark.parametrize("name", CASES)
def test_a_warning_is_one_that_is_sent_whole_or_cut(name: str) -> None:
    """The API server takes 120 characters."""
    assert all(len(one) <= MAX_WARNING for one in writes.load(CASES[name]).expect.warnings)


def test_an_unknown_key_is_a_mistake(tmp_path: Path) -> None:
    """A misspelt key never makes a case that checks nothing."""
    path = tmp_path / "misspelt.yaml"
    path.write_text("why: A.\ngiven: {cluster: tenants, kind: RDMAPolicy, name: x, specs: {}}\n")
    with pytest.raises(ValidationError, match="specs"):
        writes.load(path)
