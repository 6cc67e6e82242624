"""The AdmissionReview: what is read of it, and what is answered."""

import json
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.pod_strategies import BUDGET
from tests.harness.pods import UID, pod, review
from webhook.admission.errors import MalformedReview
from webhook.admission.review import closed, decode, head
from webhook.pods.patch import Op

WHOLE = json.loads(review(pod("ib")))


def changed(**fields: Any) -> bytes:  # noqa: ANN401 JSON is anything
    """Return a review with other fields at its root."""
    return json.dumps({**WHOLE, **fields}).encode()


def without(key: str) -> bytes:
    """Return a review that lacks a field of its root."""
    return json.dumps({name: value for name, value in WHOLE.items() if name != key}).encode()


def with_pod(**fields: Any) -> bytes:  # noqa: ANN401 JSON is anything
    """Return a review of an object with these fields."""
    return review({**pod("ib"), **fields})


DEEP = b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(b"", "truncated", id="nothing"),
        pytest.param(b"hello", "JSON is malformed", id="no JSON"),
        pytest.param(review(pod("ib"))[:-3], "truncated", id="half a review"),
        pytest.param(review(pod("ib")) + b"{}", "trailing characters", id="two reviews"),
        pytest.param(b"null", "got `null`", id="null"),
        pytest.param(b"[]", "got `array`", id="a list"),
        pytest.param(b"\xff\xfe", "not UTF-8 at byte 1", id="another encoding"),
        pytest.param(
            review(pod("ib")).replace(b'"ib"', b'"\xff"'), "not UTF-8 at byte", id="a broken text"
        ),
        pytest.param(
            review(pod("ib")).replace(b'"ib"', b'"\\ud800"'), "utf-16", id="half a surrogate pair"
        ),
        pytest.param(DEEP, "recursion", id="nested without end"),
        pytest.param(b"[" * 100_000, "got `array`", id="brackets without end"),
        pytest.param(
            with_pod(status=1).replace(b'"status": 1', b'"x":' + DEEP), "recursion", id="deep"
        ),
        pytest.param(without("apiVersion"), "missing required field `apiVersion`", id="no version"),
        pytest.param(without("kind"), "missing required field `kind`", id="no kind"),
        pytest.param(without("request"), "missing required field `request`", id="no request"),
        pytest.param(changed(request=None), "got `null` - at `$.request`", id="a request of null"),
        pytest.param(changed(request={}), "field `uid` - at `$.request`", id="an empty request"),
        pytest.param(
            changed(apiVersion="admission.k8s.io/v1beta1"),
            "got 'AdmissionReview' of 'admission.k8s.io/v1beta1', want AdmissionReview of",
            id="an older version",
        ),
        pytest.param(changed(kind="Pod" * 99), "got 'PodPod", id="another kind"),
        pytest.param(review(pod("ib"), uid=""), "request.uid is empty", id="an empty uid"),
        pytest.param(
            review(pod("ib"), uid=5), "got `int` - at `$.request.uid`", id="a number as uid"
        ),
        pytest.param(review([]), "got `array` - at `$.request.object`", id="a list as object"),
        pytest.param(review(pod("ib"), dryRun="no"), "at `$.request.dryRun`", id="text as boolean"),
        pytest.param(
            with_pod(spec={"containers": {}}),
            "Expected `array | null`, got `object` - at `$.request.object.spec.containers`",
            id="a map of containers",
        ),
        pytest.param(
            with_pod(spec={"containers": [{"env": [{"value": 1}]}]}),
            "at `$.request.object.spec.containers[0].env[0].value`",
            id="a number as value of a variable",
        ),
        pytest.param(
            with_pod(metadata={"annotations": {"a": 1}}),
            "at `$.request.object.metadata.annotations[...]`",
            id="a number as annotation",
        ),
        pytest.param(
            with_pod(spec={"hostNetwork": "true"}),
            "at `$.request.object.spec.hostNetwork`",
            id="text",
        ),
    ],
)
def test_what_is_no_review_is_refused(body: bytes, why: str) -> None:
    """The caller gets status 400 and one short sentence: what is wrong, and where."""
    with pytest.raises(MalformedReview) as caught:
        decode(body)
    text = str(caught.value)
    assert caught.value.status == 400
    assert text.startswith("request body: ")
    assert why in text
    assert text.isprintable()
    assert len(text) < 300


@BUDGET
@given(
    st.binary()
    | st.text().map(str.encode)
    | st.integers(0, len(review(pod())) - 1).map(lambda length: review(pod())[:length])
)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    """Whatever is posted, no other error than ours comes out."""
    with pytest.raises(MalformedReview):
        decode(body)


@BUDGET
@given(st.data())
def test_a_damaged_review_is_read_or_refused(data: st.DataObject) -> None:
    """A byte that is changed anywhere never breaks the decoder."""
    body = bytearray(review(pod("ib")))
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        request = decode(bytes(body))
    except MalformedReview as err:
        assert str(err).startswith("request body: ")  # noqa: PT017 both ways are right
    else:
        assert request.uid


def test_the_fields_that_decisions_touch() -> None:
    """All that we need of a request is read; null and absent are kept apart from values."""
    found = decode(review(pod("ib"), dryRun=True, subResource="status", namespace=None))
    assert (found.uid, found.operation, found.namespace) == (UID, "CREATE", None)
    assert (found.dry_run, found.sub_resource, found.kind.kind) == (True, "status", "Pod")
    assert found.object == {
        "kind": "Pod",
        "metadata": {"name": "train-0", "annotations": {"rdma.io/network": "ib"}},
        "spec": {"containers": [{"name": "main"}]},
    }


def test_a_minimal_request() -> None:
    """A request of a uid and an operation can be answered."""
    found = decode(changed(request={"uid": "u", "operation": "DELETE"}))
    assert (found.uid, found.object, found.old_object) == ("u", None, None)


@pytest.mark.parametrize("operation", ["", "FOO", "create"])
def test_a_request_says_what_it_is_about(operation: str) -> None:
    """What is no operation of the API server would pass unseen."""
    with pytest.raises(MalformedReview, match=r"request\.operation: got .*, want one of CREATE"):
        decode(changed(request={"uid": "u", "operation": operation}))


def answered(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 any argument of head
    """Return a response, after a look at what is around it."""
    whole = json.loads(closed(head(**fields), "the-uid"))
    assert whole.keys() == {"apiVersion", "kind", "response"}
    assert (whole["apiVersion"], whole["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response: dict[str, Any] = whole["response"]
    assert response["uid"] == "the-uid"
    return response


def test_an_allowed_pod_gets_no_patch_without_operations() -> None:
    """An empty patch with a patch type is an error to the API server, so neither is sent."""
    assert answered() == {"uid": "the-uid", "allowed": True}
    assert answered(ops=(), warnings=(), audit={}) == {"uid": "the-uid", "allowed": True}


def test_a_patch_comes_with_its_type() -> None:
    """The operations are sent as JSON Patch in base64."""
    found = answered(ops=(Op("add", "/a~1b", {"é": None}),))
    assert found["patchType"] == "JSONPatch"
    patch = json.loads(b64decode(found["patch"]))
    assert patch == [{"op": "add", "path": "/a~1b", "value": {"é": None}}]


def test_a_refusal_says_code_reason_and_message() -> None:
    """A denial carries no patch, whatever else was asked."""
    found = answered(refusal=(403, "WindowsPod", "no"), ops=(Op("add", "/a", 1),))
    assert found == {
        "uid": "the-uid",
        "allowed": False,
        "status": {"status": "Failure", "code": 403, "reason": "WindowsPod", "message": "no"},
    }


def test_audit_annotations_are_sent() -> None:
    """The audit log gets the decision."""
    assert answered(audit={"decision": "equipped"})["auditAnnotations"] == {"decision": "equipped"}


def test_warnings_are_sent() -> None:
    """They are the ruling's, in its order."""
    assert answered(warnings=("a", "b"))["warnings"] == ["a", "b"]


def test_a_uid_is_text() -> None:
    """Whatever a caller calls its request, the answer is JSON and says the same."""
    for uid in ('"', "\\", "é", "\n"):
        assert json.loads(closed(head(), uid))["response"]["uid"] == uid
