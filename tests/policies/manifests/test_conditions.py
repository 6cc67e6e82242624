"""The CEL that decides which pods the API server sends to the webhook."""

from policies.manifests.conditions import ANNOTATED, match_conditions


def test_the_condition_looks_before_it_reads() -> None:
    """A pod without annotations is skipped; an error would refuse it."""
    assert ANNOTATED.startswith("has(object.metadata.annotations) && ")


def test_the_condition_takes_any_letter_case() -> None:
    """``RDMA.io/Network`` is a legal key, and its author has to be told."""
    assert "key.lowerAscii().startsWith('rdma.io/')" in ANNOTATED


def test_there_is_one_condition() -> None:
    """Conditions are joined by "and": a second one could only take pods away."""
    assert match_conditions() == [{"name": "any-rdma-annotation", "expression": ANNOTATED}]
