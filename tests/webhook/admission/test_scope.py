"""Which reviews the mutation is about."""

import json
from typing import Any

import pytest

from tests.harness.pods import pod, review
from webhook.admission import scope
from webhook.admission.review import AdmissionRequest, decode
from webhook.pods.pod import Pod

MIRROR = {"kubernetes.io/config.mirror": "abc"}
OLD = {"metadata": {"annotations": {"rdma.io/network": "ib"}}}


def decoded(given: Any, **request: Any) -> tuple[AdmissionRequest, Pod]:  # noqa: ANN401
    """Return a request and its pod."""
    found = decode(review(given, **request))
    assert found.object is not None
    return found, found.object


@pytest.mark.parametrize(
    ("given", "request_fields", "is_creation"),
    [
        pytest.param(pod("ib"), {}, True, id="a pod that is being created"),
        pytest.param(pod("ib"), {"subResource": ""}, True, id="an empty subresource"),
        pytest.param(pod("ib"), {"dryRun": True}, True, id="a dry run"),
        pytest.param(pod("ib"), {"operation": "UPDATE"}, False, id="a pod that exists"),
        pytest.param(pod("ib"), {"operation": "DELETE"}, False, id="a pod that goes"),
        pytest.param(pod("ib"), {"subResource": "binding"}, False, id="a subresource"),
        pytest.param(pod("ib"), {"kind": {"kind": "Job"}}, False, id="another kind"),
        pytest.param(pod("ib"), {"kind": {}}, True, id="a kind in the object alone"),
        pytest.param(pod("ib", annotations=MIRROR), {}, False, id="a mirror pod"),
        pytest.param(pod("ib", containers=[]), {}, False, id="an empty list of containers"),
        pytest.param(pod("ib", containers=None), {}, False, id="containers of null"),
        pytest.param({"metadata": {}}, {}, False, id="no spec"),
    ],
)
def test_only_a_pod_that_is_being_created_is_changed(
    given: Any,  # noqa: ANN401 JSON is anything
    request_fields: dict[str, Any],
    *,
    is_creation: bool,
) -> None:
    """Everything else passes as it is."""
    assert scope.is_creation(*decoded(given, **request_fields)) is is_creation


@pytest.mark.parametrize(
    ("given", "request_fields", "is_told"),
    [
        pytest.param(pod("ib"), {"oldObject": {}}, True, id="the annotation is new"),
        pytest.param(pod("ib"), {"oldObject": None}, True, id="the old pod is not sent"),
        pytest.param(pod("ib"), {"oldObject": {"metadata": None}}, True, id="it has no metadata"),
        pytest.param(pod("roce"), {"oldObject": OLD}, True, id="the annotation is another"),
        pytest.param(pod("ib"), {"oldObject": OLD}, False, id="the annotation is the same"),
        pytest.param(pod(), {"oldObject": OLD}, False, id="the annotation was taken away"),
        pytest.param(pod("ib"), {"operation": "DELETE"}, False, id="the pod goes"),
    ],
)
def test_an_annotation_on_a_pod_that_exists_comes_too_late(
    given: Any,  # noqa: ANN401 JSON is anything
    request_fields: dict[str, Any],
    *,
    is_told: bool,
) -> None:
    """Who adds or changes it afterwards is told that nothing happens."""
    found = scope.notices(*decoded(given, **{"operation": "UPDATE", **request_fields}))
    assert len(found) == is_told
    assert all("create it anew" in one.text for one in found)


def test_the_review_of_an_update_is_small_to_read() -> None:
    """Of the old object only what the warning needs is decoded."""
    body = json.loads(review(pod("ib"), operation="UPDATE", oldObject={**OLD, "spec": {"x": 1}}))
    assert decode(json.dumps(body).encode()).old_object == OLD
