"""AdmissionReviews made of pods as people write them."""

import json
from typing import Any

import pytest

from webhook.cli.reviews import defaulted, problem, review


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


@pytest.mark.parametrize(
    ("written", "read"),
    [(1.0, "1"), (0.5, "0.5"), (None, "0"), (1e21, "1" + "0" * 21), (8, 8), ("1.0", "1.0")],
)
def test_amounts_are_those_that_the_api_server_reads(written: object, read: object) -> None:
    """In limits and requests of containers and of the whole pod; requests come from limits."""
    resources = {"limits": {"a/b": written}}
    pod = {"spec": {"containers": [{"resources": resources}], "resources": resources}}
    spec = defaulted(pod, "n")["spec"]
    both = {"limits": {"a/b": read}, "requests": {"a/b": read}}
    assert spec["containers"] == [{"resources": both}]
    assert spec["resources"] == {"limits": {"a/b": read}}
    assert resources == {"limits": {"a/b": written}}


def test_infinity_is_left_as_it_is() -> None:
    """It is no quantity; the engine says so."""
    limits = {"a/b": float("inf")}
    made = defaulted({"spec": {"containers": [{"resources": {"limits": limits}}]}}, "n")
    assert made["spec"]["containers"][0]["resources"]["limits"] == limits


def test_null_in_a_map_of_texts_is_the_empty_text() -> None:
    """In annotations, labels and node selector; the source stays as it is."""
    metadata = {"annotations": {"a": None, "b": "c"}, "labels": {"a": None}}
    pod = {"metadata": metadata, "spec": {"nodeSelector": {"a": None}}}
    made = defaulted(pod, "n")
    assert made["metadata"] == {
        "annotations": {"a": "", "b": "c"},
        "labels": {"a": ""},
        "namespace": "n",
    }
    assert made["spec"]["nodeSelector"] == {"a": ""}
    assert metadata["annotations"] == {"a": None, "b": "c"}


@pytest.mark.parametrize(
    ("pod", "sentence"),
    [
        (
            {"metadata": {"annotations": {"k": True}}},
            'metadata.annotations[k]: got true, want a text; put the value in quotes: "true"',
        ),
        (
            {"metadata": {"labels": {"k": 1.5}}},
            'metadata.labels[k]: got 1.5, want a text; put the value in quotes: "1.5"',
        ),
        (
            {"spec": {"nodeSelector": {"k\x1b": {}}}},
            "spec.nodeSelector[k\ufffd]: got a dict, want a text",
        ),
        ({"metadata": {"annotations": {"k": None, "l": "m"}, "labels": []}, "spec": 7}, ""),
    ],
)
def test_a_value_that_is_no_text_is_named(pod: dict[str, Any], sentence: str) -> None:
    """With its key, and the remedy where there is one."""
    assert problem(pod) == sentence


def test_a_review_names_its_request() -> None:
    """The fields that the API server sets."""
    request = json.loads(review({"metadata": {"name": "p"}}, "n", "u", dry_run=True))["request"]
    assert (request["uid"], request["namespace"], request["name"]) == ("u", "n", "p")
    assert (request["operation"], request["dryRun"]) == ("CREATE", True)
