"""What becomes of a request."""

from typing import get_args

from policies.refusal import Reason, Refusal
from webhook.admission.verdict import Denied, Unchanged, Verdict


def test_the_set_is_closed() -> None:
    """A request is left alone, patched or denied."""
    assert [one.__name__ for one in get_args(Verdict)] == ["Unchanged", "Patched", "Denied"]


def test_verdicts_are_values() -> None:
    """Two verdicts that say the same are equal."""
    refusal = Refusal(Reason.WINDOWS_POD, "no")
    assert Denied(refusal) == Denied(Refusal(Reason.WINDOWS_POD, "no"))
    assert Unchanged() == Unchanged(())
