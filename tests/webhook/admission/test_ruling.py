"""A verdict in words and bytes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.refusal import MAX_MESSAGE, Notice, Reason, Refusal
from tests.harness.intents import intent
from tests.harness.pod_strategies import BUDGET
from tests.harness.pods import UID
from webhook.admission.review import MAX_WARNING, MAX_WARNINGS, closed
from webhook.admission.ruling import Ruling, rule
from webhook.admission.verdict import Denied, Patched, Unchanged, Verdict
from webhook.pods.patch import Op

WANTED = intent(networks=("ib", "roce"), policy="team-a/default", generation=7, partition="main")
OPS = (Op("add", "/a", 1), Op("add", "/b", 2))
NOTICES = (Notice("third", 5), Notice("first", 1), Notice("second", 2), Notice("first", 9))


def said(verdict: Verdict) -> tuple[dict[str, Any], Ruling]:
    """Return the response and the ruling."""
    found = rule(verdict)
    response: dict[str, Any] = json.loads(closed(found.head, UID))["response"]
    return response, found


def test_a_denial() -> None:
    """A refusal is sent with its code, and told to the logs and the audit log."""
    response, ruling = said(Denied(Refusal(Reason.NETWORK_NOT_GRANTED, "no such network")))
    assert response["status"]["code"] == 403
    assert response["status"]["reason"] == "NetworkNotGranted"
    assert response["auditAnnotations"] == {"decision": "denied: NetworkNotGranted"}
    assert (ruling.verdict, ruling.reason) == ("Denied", "NetworkNotGranted")
    assert ruling.message == response["status"]["message"] == "no such network"
    assert (ruling.ops, ruling.networks, ruling.warnings) == (0, (), ())


def test_a_patch() -> None:
    """A patched pod is told with its networks, policy and partition."""
    response, ruling = said(Patched(OPS, WANTED, NOTICES))
    assert response["allowed"] is True
    assert response["auditAnnotations"] == {
        "decision": "equipped",
        "network": "ib,roce",
        "partition": "main",
        "policy": "team-a/default",
        "policy-generation": "7",
    }
    assert (ruling.verdict, ruling.ops, ruling.networks) == ("Patched", 2, ("ib", "roce"))
    assert (ruling.policy, ruling.reason) == ("team-a/default", "")


def test_a_pod_that_has_it_all_already() -> None:
    """On the second call the audit annotations are those of the first, and no patch is sent."""
    first, _ = said(Patched(OPS, WANTED))
    second, ruling = said(Patched((), WANTED))
    assert "patch" not in second
    assert second["auditAnnotations"] == first["auditAnnotations"]
    assert (ruling.verdict, ruling.networks) == ("Unchanged", ("ib", "roce"))


def test_an_audit_annotation_that_says_nothing_is_left_out() -> None:
    """A network without partition has none to tell."""
    response, _ = said(Patched(OPS, intent(policy="team-a/default")))
    assert "partition" not in response["auditAnnotations"]


def test_a_pod_left_alone() -> None:
    """Nothing is sent but that it is allowed, and what its author should know."""
    response, ruling = said(Unchanged(NOTICES))
    assert response == {"uid": UID, "allowed": True, "warnings": ["first", "second", "third"]}
    assert (ruling.verdict, ruling.warnings) == ("Unchanged", ("first", "second", "third"))


@pytest.mark.parametrize("verdict", [Unchanged(NOTICES), Patched(OPS, WANTED, NOTICES)])
def test_the_most_important_warning_comes_first(verdict: Verdict) -> None:
    """Warnings are sorted by rank, and each is said once."""
    response, ruling = said(verdict)
    assert response["warnings"] == list(ruling.warnings) == ["first", "second", "third"]


def test_what_is_not_enforced_is_in_the_audit_log() -> None:
    """Each reason is named once, also where nobody is warned of it."""
    quiet = Notice("quiet", 1, "PrivilegeDenied", is_silent=True)
    notices = (quiet, Notice("loud", 1, "CapabilityDenied"), quiet)
    response, ruling = said(Patched(OPS, WANTED, notices))
    assert response["auditAnnotations"]["not-enforced"] == "PrivilegeDenied,CapabilityDenied"
    assert response["warnings"] == list(ruling.warnings) == ["loud"]


def test_without_notices_there_are_no_warnings() -> None:
    """A pod that nothing is wrong with gets no warning field."""
    assert "warnings" not in said(Unchanged())[0]


def test_the_first_three_warnings_are_sent() -> None:
    """The API server's room for warnings is small, and so is a log line's."""
    response, ruling = said(Unchanged(tuple(Notice(text, 1) for text in "abcd")))
    assert response["warnings"] == list(ruling.warnings) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        pytest.param("x" * 120, "x" * 120, id="as long as allowed"),
        pytest.param("x" * 121, "x" * 119 + "…", id="too long"),
        pytest.param("a\nb\x00c\u2028d", "a\ufffdb\ufffdc\ufffdd", id="what cannot be printed"),
        pytest.param("é€😀", "é€😀", id="what can be printed"),
    ],
)
def test_a_warning_can_be_passed_on(text: str, sent: str) -> None:
    """A control character would make the API server drop the warning."""
    assert said(Unchanged((Notice(text),)))[0]["warnings"] == [sent]


@BUDGET
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=200), max_size=5))
def test_warnings_are_always_valid(texts: list[str]) -> None:
    """However odd the texts, the API server takes the response."""
    response, _ = said(Unchanged(tuple(Notice(text) for text in texts)))
    sent = response.get("warnings", [])
    assert len(sent) <= min(len(texts), MAX_WARNINGS)
    assert all(len(text) <= MAX_WARNING and text.isprintable() for text in sent)


def test_a_message_reaches_a_terminal_safely() -> None:
    """A refusal quotes what its author wrote: cut, and without control characters."""
    refusal = Refusal(Reason.NETWORK_INVALID, "\x1b[31m" + "x" * 5000)
    response, ruling = said(Denied(refusal))
    assert response["status"]["message"] == ruling.message
    assert ruling.message.isprintable()
    assert len(ruling.message) == MAX_MESSAGE
