"""What every check looks at."""

from tests.harness.cluster import cluster
from tests.harness.pods import case, pod


def test_a_case_has_the_facts_and_the_policy() -> None:
    """Checks reach the pod's facts and its namespace's policy by name."""
    found = case(pod("tokens"), cluster())
    assert found.subject is found.applicable.subject
    assert found.tenancy.title == "RDMAPolicy team-a/default"
    assert found.intent.networks == ("tokens",)
