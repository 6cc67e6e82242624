"""Our kinds in the hands of the real kubectl: explain, get, short names, the category, status."""

from collections.abc import Iterator

import pytest

from tests.harness.controlplane import ControlPlane
from tests.harness.crd_cases import Object, collection

CLAIM: Object = {
    "apiVersion": "rdma.io/v1alpha1",
    "kind": "RDMAPartition",
    "metadata": {"name": "shown.pkey.0011"},
    "spec": {
        "fabric": "shown",
        "type": "PKey",
        "number": 17,
        "tenant": "acme",
        "partition": "main",
    },
}
STATUS: Object = {
    "phase": "Bound",
    "conditions": [
        {
            "type": "Accepted",
            "status": "True",
            "lastTransitionTime": "2026-01-31T12:00:00Z",
            "reason": "Claimed",
            "message": "The number is acme's.",
        }
    ],
}


@pytest.fixture
def claim(kinds: ControlPlane) -> Iterator[str]:
    """Give the name of a claim whose status the controller has written."""
    stored = kinds.request("POST", collection(CLAIM), {**CLAIM, "status": STATUS})
    assert "status" not in stored, "a status is written to its subresource only"
    path = f"{collection(CLAIM)}/{CLAIM['metadata']['name']}"
    kinds.request("PUT", f"{path}/status", {**stored, "status": STATUS})
    yield str(CLAIM["metadata"]["name"])
    kinds.request("DELETE", path)


def test_a_claim_is_shown_with_its_holder(kinds: ControlPlane, claim: str) -> None:
    """``kubectl get rdmapart`` answers who is in a partition; wide says whether it is accepted."""
    head, row = kinds.kubectl("get", "rdmapart", claim).stdout.splitlines()
    assert head.split() == [
        "NAME",
        "FABRIC",
        "TYPE",
        "NUMBER",
        "TENANT",
        "PARTITION",
        "PHASE",
        "AGE",
    ]
    assert row.split()[:-1] == [claim, "shown", "PKey", "17", "acme", "main", "Bound"]
    head, row = kinds.kubectl("get", "rdmapart", claim, "-o", "wide").stdout.splitlines()
    assert {"ACCEPTED", "REASON"} < set(head.split())
    assert {"True", "Claimed"} < set(row.split())
    assert claim in kinds.kubectl("get", "rdma", "-o", "name").stdout


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("rdmanetwork", "A fabric and how a pod joins it"),
        ("rdmanetwork.spec.mode", "Immutable: make another network"),
        ("rdmanetwork.spec.rails", "in the order in which attachments are dealt over them"),
        ("rdmanetwork.spec.rails.altNames", "such as enp24s0f0np0"),
        ("rdmanetwork.spec.template.vlan", "Not allowed"),
        ("rdmanetwork.status.conditions.reason", "one CamelCase word"),
        ("rdmapol.spec.podLimits", "Default: IPC_LOCK may be added, nothing else"),
        ("rdmapol.spec.podLimits.hostPaths", "if every such mount is read-only"),
        ("rdmapol.spec.networks.partitions.number", "without the membership bit 0x8000"),
        ("rdmapart.spec", "Immutable"),
        ("rdmapart.status.phase", "so nobody else gets it yet"),
    ],
)
def test_explain_reads_without_our_documents(kinds: ControlPlane, path: str, words: str) -> None:
    """Every field says what it is, in which unit or form, and what its absence means."""
    assert words in " ".join(kinds.kubectl("explain", path).stdout.split())


@pytest.mark.parametrize("kind", ["rdmanetwork", "rdmapolicy", "rdmapartition"])
def test_explain_reaches_every_depth(kinds: ControlPlane, kind: str) -> None:
    """The schema is published whole."""
    shown = kinds.kubectl("explain", kind, "--recursive").stdout
    assert "lastTransitionTime" in shown
    assert "spec" in shown
