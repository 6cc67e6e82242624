"""AdmissionReviews made of pods as people write them."""

import json
from typing import Any

import pytest

from webhook.cli.reviews import defaulted, review


def test_the_defaults_that_matter_are_filled_in() -> None:
    """Requests from limits, and the DNS policy; the source stays as it is."""
    limits = {"cpu": 1, "nvidia.com/gpu": 8}
    container = {"name": "c", "resources": {"limits": limits, "requests": {"cpu": "500m"}}}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [container, {"name": "d"}]}}
    made = defaulted(pod, "team-a")
    assert made["metadata"]["namespace"] == "team-a"
    assert made["spec"]["dnsPolicy"] == "ClusterFirst"
    first, second = made["spec"]["containers"]
    assert first["resources"]["requests"] == {"cpu": "500m", "nvidia.com/gpu": 8}
    assert second == {"name": "d"}
    assert container["resources"] == {"limits": limits, "requests": {"cpu": "500m"}}


@pytest.mark.parametrize(
    "pod",
    [
        {},
        {"metadata": None, "spec": []},
        {"spec": {"containers": [None, {"resources": 7}, {"resources": {"limits": []}}]}},
        {"spec": {"containers": {"a": 1}, "initContainers": None}},
    ],
)
def test_what_is_no_pod_is_left_as_it_is(pod: dict[str, Any]) -> None:
    """The engine says what is wrong with it."""
    made = defaulted(pod, "n")
    assert made.get("metadata") == pod.get("metadata")
    assert json.loads(review(made, "n", "u"))["request"]["object"] == made


def test_a_review_names_its_request() -> None:
    """The fields that the API server sets."""
    request = json.loads(review({"metadata": {"name": "p"}}, "n", "u", dry_run=True))["request"]
    assert (request["uid"], request["namespace"], request["name"]) == ("u", "n", "p")
    assert (request["operation"], request["dryRun"]) == ("CREATE", True)
