"""A verdict in words and bytes."""

import json
from typing import Any

import pytest

from policies.refusal import Notice, Reason, Refusal
from tests.harness.intents import intent
from tests.harness.pods import UID
from webhook.admission.review import closed
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
