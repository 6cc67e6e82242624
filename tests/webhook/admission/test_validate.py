"""Reviews of our own kinds, bytes in and bytes out."""

import json
from typing import Any

import pytest

from tests.harness.cluster import granted, network, policy, rail, snapshot
from webhook.admission.answer import Answer
from webhook.admission.errors import MalformedReview
from webhook.admission.validate import MOST_BYTES, validate

UID = "b8a54a4f"
ROCE = network(
    "roce",
    "SRIOVEthernet",
    rail("r0", "nvidia.com/roce_r0"),
    partition={"type": "VLAN", "min": 200, "max": 299},
)
SNAPSHOT = snapshot(ROCE, policy(granted("roce", 210), namespace="team-b"))


def body(obj: object, **request: Any) -> bytes:  # noqa: ANN401 JSON is anything
    """Return a review of an RDMAPolicy that is created in namespace team-a."""
    usual = {
        "uid": UID,
        "kind": {"group": "rdma.io", "version": "v1alpha1", "kind": "RDMAPolicy"},
        "operation": "CREATE",
        "namespace": "team-a",
        "name": "default",
        "object": obj,
    }
    whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**whole, "request": {**usual, **request}}).encode()


def response(answer: Answer) -> dict[str, Any]:
    """Return what is sent, parsed."""
    found: dict[str, Any] = json.loads(answer.body)["response"]
    return found


TAKEN = policy(granted("roce", 210))
DEEP = b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def test_a_refusal_is_an_answer() -> None:
    """HTTP knows nothing of it: allowed is false, with code, reason, message and audit."""
    found = validate(body(TAKEN), SNAPSHOT)
    sent = response(found)
    assert (sent["uid"], sent["allowed"]) == (UID, False)
    assert (sent["status"]["code"], sent["status"]["reason"]) == (403, "PartitionConflict")
    assert "spec.networks[roce].partitions[main].number: VLAN 210" in sent["status"]["message"]
    assert sent["auditAnnotations"] == {"decision": "denied: PartitionConflict"}
    decision = found.decision
    assert (decision.kind, decision.namespace, decision.name) == (
        "RDMAPolicy",
        "team-a",
        "default",
    )
    assert (decision.verdict, decision.reason) == ("Denied", "PartitionConflict")


def test_a_warning_is_sent_with_leave() -> None:
    """What may still come right is no refusal."""
    sent = response(validate(body(policy("later")), SNAPSHOT))
    assert sent["allowed"]
    assert len(sent["warnings"]) == 1
    assert "status" not in sent


@pytest.mark.parametrize(
    "request_fields",
    [
        pytest.param({"kind": {"group": "", "version": "v1", "kind": "Pod"}}, id="a pod"),
        pytest.param(
            {"kind": {"group": "example.com", "kind": "RDMAPolicy"}}, id="a namesake of others"
        ),
        pytest.param({"kind": {"group": "rdma.io", "kind": "RDMALater"}}, id="a later kind"),
        pytest.param({"subResource": "status"}, id="a subresource"),
    ],
)
def test_what_is_none_of_our_business_passes(request_fields: dict[str, Any]) -> None:
    """Nothing is said, and metrics do not grow by what a client writes."""
    found = validate(body(TAKEN, **request_fields), SNAPSHOT)
    assert response(found) == {"allowed": True, "uid": UID}
    assert found.decision.kind == "Other"


@pytest.mark.parametrize("side", ["object", "oldObject"])
def test_an_object_beyond_all_use_is_not_read(side: str) -> None:
    """It passes with a word: decoding what somebody made large would cost memory."""
    huge = {**TAKEN, "spec": {**TAKEN["spec"], "template": [{}] * MOST_BYTES}}
    sent = response(validate(body(TAKEN, **{side: huge}), SNAPSHOT))
    assert sent["allowed"]
    assert sent["warnings"] == ["it is larger than 512 KiB, so nothing was checked"]


def test_what_managers_own_is_not_read() -> None:
    """The longer part of an object says who wrote which field."""
    managed = {**TAKEN["metadata"], "managedFields": [{"manager": 7}], "labels": 7}
    found = validate(body({**TAKEN, "metadata": managed, "status": 7}), SNAPSHOT)
    assert not response(found)["allowed"]


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_operations_that_nobody_registered_pass(operation: str) -> None:
    """A policy can always be deleted."""
    found = validate(body(None, operation=operation, oldObject=TAKEN), SNAPSHOT)
    assert response(found) == {"allowed": True, "uid": UID}
    assert found.decision.kind == "RDMAPolicy"


def test_the_namespace_is_that_of_the_request() -> None:
    """A forged one in the object does not make the policy its own rival's."""
    forged = policy(granted("roce", 210), namespace="team-b")
    assert not response(validate(body(forged), SNAPSHOT))["allowed"]


@pytest.mark.parametrize(
    ("request_fields", "name"),
    [
        ({"name": "default"}, "default"),
        ({"name": None}, "of-the-object"),
        ({"name": "", "object": None, "oldObject": {"metadata": {"name": "old"}}}, "old"),
        ({"name": "", "object": {"metadata": {"name": None}}}, ""),
        ({"name": "", "object": {"metadata": None}}, ""),
        ({"name": "", "object": None}, ""),
    ],
)
def test_the_name_is_the_requests_or_else_the_objects(
    request_fields: dict[str, Any], name: str
) -> None:
    """A name that the API server makes up stands in the object alone."""
    named = {"metadata": {"name": "of-the-object"}}
    found = validate(body(named, **request_fields), SNAPSHOT)
    assert found.decision.name == name


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(b"{}", "missing required field", id="no review"),
        pytest.param(body([]), "no object of rdma.io: Expected", id="a list as object"),
        pytest.param(body({}, oldObject=5), "got `int`", id="a number before"),
        pytest.param(
            body({"metadata": {"name": 5}}), "at `$.metadata.name`", id="a number as name"
        ),
        pytest.param(body("deep").replace(b'"deep"', DEEP), "recursion", id="without end"),
        pytest.param(body({}, uid=""), "request.uid is empty", id="no uid"),
        pytest.param(body({}, operation="PATCH"), "request.operation: got", id="no operation"),
        pytest.param(body(TAKEN, namespace=None), "request.namespace is empty", id="nowhere"),
        pytest.param(b"\xff", "not UTF-8", id="another encoding"),
    ],
)
def test_what_is_no_review_is_said(given: bytes, why: str) -> None:
    """As for pods."""
    with pytest.raises(MalformedReview) as caught:
        validate(given, SNAPSHOT)
    assert why in str(caught.value)
