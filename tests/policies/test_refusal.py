"""Refusals and notices as values, and text of users inside messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.refusal import Reason, listed, quoted
from tests.harness.budgets import small


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (Reason.NETWORK_INVALID, 422),
        (Reason.HOST_NETWORK_CONFLICT, 422),
        (Reason.PLACEMENT_CONFLICT, 422),
        (Reason.NETWORK_NOT_GRANTED, 403),
        (Reason.RESOURCE_DENIED, 403),
    ],
)
def test_a_reason_has_its_code(reason: Reason, code: int) -> None:
    """422 cannot mean what it says, 403 is the policy's no."""
    assert reason.code == code


def test_every_reason_is_one_camel_case_word_of_its_own() -> None:
    """Alerts and documents name reasons; two of them never look alike."""
    words = [reason.value for reason in Reason]
    assert len({word.lower() for word in words}) == len(words)
    assert all(word.isalpha() and word[0].isupper() for word in words)


@small
@given(value=st.text(max_size=200))
def test_text_of_a_user_is_short_and_printable_in_a_message(value: str) -> None:
    """No control character, no line break and no flood of text reaches a terminal."""
    found = quoted(value)
    assert found.isprintable()
    assert len(found) <= 65
    assert found[0] == found[-1] == '"'


def test_a_short_printable_text_is_quoted_as_it_is() -> None:
    """What is harmless is not changed."""
    assert quoted("train-ib:2") == '"train-ib:2"'
    assert quoted("a" * 63) == f'"{"a" * 63}"'
    assert quoted("a" * 64) == f'"{"a" * 62}\u2026"'
    assert quoted("a\x1b[0m") == '"a\ufffd[0m"'


def test_a_long_list_of_names_is_cut() -> None:
    """The rest is a number."""
    assert listed([]) == "none"
    assert listed(("a", "b")) == "a, b"
    assert listed([str(n) for n in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert listed(["a", "b"], most=1) == "a and 1 more"
