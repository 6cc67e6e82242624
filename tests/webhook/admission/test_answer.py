"""The answer to one review."""

import json
from typing import Any

import pytest

from tests.harness.intents import intent
from tests.harness.pods import UID, pod, review
from webhook.admission.answer import answer
from webhook.admission.review import decode
from webhook.admission.ruling import rule
from webhook.admission.verdict import Patched, Unchanged
from webhook.pods.patch import Op


def test_a_ruling_answers_a_request_by_its_uid() -> None:
    """The response is the ruling's, the decision says the same in fields."""
    ruling = rule(Patched((Op("add", "/a", 1),), intent(networks=("ib",), policy="team-a/default")))
    found = answer(decode(review(pod("ib"))), ruling)
    response = json.loads(found.body)["response"]
    assert (response["uid"], response["allowed"]) == (UID, True)
    decision = found.decision
    assert (decision.verdict, decision.networks, decision.ops) == ("Patched", ("ib",), 1)
    assert (decision.policy, decision.reason) == ("team-a/default", "")


@pytest.mark.parametrize(
    ("request_fields", "field", "value"),
    [
        ({"dryRun": True}, "dry_run", True),
        ({"dryRun": None}, "dry_run", False),
        ({"namespace": None}, "namespace", ""),
        ({"operation": "UPDATE"}, "operation", "UPDATE"),
        ({"object": {"metadata": {"generateName": "a-"}}}, "name", "a-*"),
        ({"object": None}, "name", ""),
        ({"kind": {"kind": "Pod" * 99}}, "kind", "Pod"),
        ({}, "uid", UID),
    ],
)
def test_logs_may_show(request_fields: dict[str, Any], field: str, value: object) -> None:
    """A decision has what a log line needs, and nothing of the pod but its name."""
    found = answer(decode(review(pod("ib"), **request_fields)), rule(Unchanged()))
    assert getattr(found.decision, field) == value
