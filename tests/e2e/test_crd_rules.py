"""Every rule of our CRDs on the real API server: what it refuses, with which field and words."""

from collections.abc import Iterator

import pytest

from policies.manifests.kinds import KINDS
from tests.harness.controlplane import ControlPlane
from tests.harness.crd_cases import Case, cases, causes, collection

CASES = {case.name: case for case in cases()}


@pytest.fixture
def stored(kinds: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Case]:
    """Give a case whose earlier object is there while the test runs."""
    case: Case = request.param
    assert case.stored is not None
    kinds.request("POST", collection(case.stored), case.stored)
    yield case
    kinds.request("DELETE", f"{collection(case.stored)}/{case.stored['metadata']['name']}")


CREATES = {name: case for name, case in CASES.items() if case.stored is None}
UPDATES = {name: case for name, case in CASES.items() if case.stored is not None}


@pytest.mark.parametrize("case", CREATES.values(), ids=list(CREATES))
def test_a_contradiction_is_refused_as_it_is_written(kinds: ControlPlane, case: Case) -> None:
    """The right object is taken; the wrong one is refused with exactly this field and sentence."""
    path = f"{collection(case.valid)}?dryRun=All"
    status, answer = kinds.api("POST", path, case.valid)
    assert status == 201, causes(answer)
    status, answer = kinds.api("POST", path, case.invalid)
    assert status == 422, answer
    assert sorted(causes(answer)) == sorted(case.causes)


@pytest.mark.parametrize("stored", UPDATES.values(), ids=list(UPDATES), indirect=True)
def test_what_is_immutable_stays(kinds: ControlPlane, stored: Case) -> None:
    """Another change of the same object is taken; this one is refused with field and sentence."""
    path = f"{collection(stored.valid)}/{stored.valid['metadata']['name']}?dryRun=All"
    version = kinds.request("GET", path.partition("?")[0])["metadata"]["resourceVersion"]
    outcomes = []
    for one in (stored.valid, stored.invalid):
        body = {**one, "metadata": {**one["metadata"], "resourceVersion": version}}
        outcomes.append(kinds.api("PUT", path, body))
    assert outcomes[0][0] == 200, causes(outcomes[0][1])
    assert outcomes[1][0] == 422
    assert sorted(causes(outcomes[1][1])) == sorted(stored.causes)


def test_a_partition_cannot_be_added_either(kinds: ControlPlane) -> None:
    """Pods that run without a number would stay beside those that have one."""
    body = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": "case-bare"},
        "spec": {"mode": "SRIOVEthernet", "rails": [{"name": "r0", "resourceName": "rdma/x"}]},
    }
    path = f"{collection(body)}/case-bare"
    kinds.request("POST", collection(body), body)
    change = {"spec": {"partition": {"type": "VLAN"}}}
    kind = "application/merge-patch+json"
    status, answer = kinds.api("PATCH", path, change, content_type=kind)
    kinds.request("DELETE", path)
    assert (status, [field for field, _ in causes(answer)]) == (422, ["spec.partition"])


def test_every_rule_has_a_case() -> None:
    """A rule that is added without an object that it refuses fails here, with its place."""
    covered = {(case.kind, case.place, case.rule) for case in CASES.values()}
    written = {
        (kind.name, f"{rule.at}{rule.field}".lstrip("."), rule.message)
        for kind in KINDS
        for rule in kind.rules()
    }
    assert written - covered == set()
    assert covered - written == set(), "a case for a rule that is not there"
