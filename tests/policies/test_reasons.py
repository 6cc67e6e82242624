"""Every reason of a refusal is documented, and shown by a case."""

import re
from collections.abc import Mapping

import pytest

from policies.refusal import Reason
from tests.harness import golden, writes

DOCUMENT = golden.ROOT / "docs" / "reasons.md"
FIELDS = ("Code", "Means", "Example", "Who", "Fix")


def _sections() -> Mapping[str, str]:
    """Return the text of each reason by its heading."""
    parts = re.split(r"^### (\w+)$", DOCUMENT.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SECTIONS = _sections()
SHOWN = {golden.load(path).expect.reason for path in golden.discover()} | {
    writes.load(path).expect.reason for path in writes.discover()
}


def test_what_is_documented_is_what_there_is() -> None:
    """No reason is missing, and none is left from before, in the order of the code."""
    assert list(SECTIONS) == [reason.value for reason in Reason]


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_says_all_that_helps(reason: Reason) -> None:
    """Code, meaning, an example of the message, who can fix it and how."""
    found = dict(re.findall(r"^- (\w+): (.+)$", SECTIONS[reason.value], flags=re.MULTILINE))
    assert tuple(found) == FIELDS
    assert found["Code"] == str(reason.code)
    assert found["Example"].startswith("`")
    assert len(found["Fix"]) > 10


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_is_shown_by_a_case(reason: Reason) -> None:
    """A reason that no pod and no object can meet is none."""
    assert reason.value in SHOWN


def test_reasons_are_read_by_programs() -> None:
    """CamelCase, as reasons in the status of the API are."""
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", reason.value) for reason in Reason)
