"""Readers of files judge as the API server does: the table of the CRDs' rules, once more."""

import pytest

from policies import flaws
from policies.changes import Put
from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.harness.cluster import claim, policy
from tests.harness.crd_cases import Case, Object, cases

CASES = {case.name: case for case in cases() if case.stored is None}


def said(raw: Object) -> tuple[str, ...]:
    """What a reader of files says about an object: problems, then flaws."""
    read = Snapshot.empty(Rules()).apply([Put(raw["kind"], raw)])
    return (*read.problems, *flaws.of(raw["kind"], raw))


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_the_api_server_refuses_is_said_of_a_file(case: Case) -> None:
    """One sentence with the object's name for the wrong object, none for the right one."""
    assert said(case.valid) == ()
    found = said(case.invalid)
    assert found
    name = str(case.invalid["metadata"]["name"])
    assert all(name in one and "\n" not in one for one in found)


def test_a_flaw_leaves_the_policy_usable() -> None:
    """What wins is plain: limits before defaults, dropping before adding."""
    raw = policy("a", podLimits={"requiredDrop": ["IPC_LOCK"]})
    read = Snapshot.empty(Rules()).apply([Put("RDMAPolicy", raw)])
    assert read.shard("team-a").tenancy is not None
    assert flaws.of("RDMAPolicy", raw) == (
        (
            "RDMAPolicy team-a/default: spec.podLimits.requiredDrop: IPC_LOCK is in capabilities "
            "too, which may be added; the API server refuses it"
        ),
    )


def test_a_claim_of_another_name_holds_its_number() -> None:
    """A number is never free because of how its claim is written."""
    raw = claim("mine", "acme/team-a")
    assert [one.partition(": ")[2] for one in flaws.of("RDMAPartition", raw)] == [
        (
            "metadata.name: want leaf.vlan.0210, so that a number has one holder; the API server "
            "refuses it"
        ),
        (
            "spec.tenant: a tenant's name holds no slash, unless it is namespace/NAME; the API "
            "server refuses it"
        ),
    ]


def test_what_cannot_be_read_or_is_another_kind_has_no_flaws() -> None:
    """That it cannot be read is said elsewhere."""
    assert flaws.of("RDMAPolicy", policy(podLimits=7)) == ()
    assert flaws.of("Namespace", {"metadata": {"name": "a"}}) == ()
