"""How a partition stands."""

from policies.standing.partition import stand
from tests.harness.cluster import claim, snapshot


def test_a_claim_is_bound_for_as_long_as_it_exists() -> None:
    """Readable, or of an earlier version that still counts."""
    first = snapshot(claim("p", "acme"))
    good = stand(first, "p")
    assert (good.findings[0].status, good.fields) == ("True", {"phase": "Bound"})
    later = stand(snapshot(claim("p", "acme"), {**claim("p", "acme"), "spec": 7}), "p")
    assert (later.findings[0].reason, later.fields) == ("Unreadable", {"phase": "Bound"})
    assert later.findings[0].message.endswith("the version before still counts")


def test_a_claim_that_was_never_read_holds_nothing() -> None:
    """Its condition says what is wrong with it."""
    found = stand(snapshot({**claim("p", "acme"), "spec": 7}), "p")
    assert found.fields == {}
    assert found.findings[0].message.startswith("RDMAPartition p: spec: ")
