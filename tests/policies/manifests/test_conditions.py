"""The CEL that decides what the API server sends to the webhook."""

from policies.manifests.conditions import (
    ANNOTATED,
    SPEC_CHANGED,
    match_conditions,
    object_match_conditions,
)


def test_the_condition_looks_before_it_reads() -> None:
    """A pod without annotations is skipped; an error would refuse it."""
    assert ANNOTATED.startswith("has(object.metadata.annotations) && ")


def test_the_condition_takes_any_letter_case() -> None:
    """``RDMA.io/Network`` is a legal key, and its author has to be told."""
    assert "key.lowerAscii().startsWith('rdma.io/')" in ANNOTATED


def test_there_is_one_condition() -> None:
    """Conditions are joined by "and": a second one could only take pods away."""
    assert match_conditions() == [{"name": "any-rdma-annotation", "expression": ANNOTATED}]


def test_an_object_that_comes_or_goes_is_always_sent() -> None:
    """A side that is null is asked for before its spec is."""
    before, _, after = SPEC_CHANGED.rpartition(" || ")
    assert before == "oldObject == null || object == null"
    assert after == "object.spec != oldObject.spec"
    assert object_match_conditions() == [{"name": "spec-changed", "expression": SPEC_CHANGED}]
