"""How a policy stands: each reason once, and the same sentence that its pods are refused with."""

from typing import Any

import pytest

from policies.changes import Gone, Put
from policies.snapshot import Snapshot
from policies.standing import policy as standing
from policies.standing.finding import Finding
from tests.harness.cluster import cluster, granted, labelled, nad, network, policy, rail, snapshot

VF = rail("r0", "nvidia.com/vf")


def stood(known: Snapshot, outdated: tuple[str, ...] | None = ()) -> dict[str, Finding]:
    """Return the conditions of team-a's policy."""
    return {one.type: one for one in standing.stand(known, "team-a", outdated).findings}


def with_grants(*grants: Any, **spec: Any) -> Snapshot:  # noqa: ANN401
    """Return the small cluster, in which team-a has some grants."""
    return cluster(grants=grants, **spec)


@pytest.mark.parametrize(
    ("known", "status", "reason", "words"),
    [
        pytest.param(cluster(), "True", "Ready", "every granted network", id="all is there"),
        pytest.param(with_grants(), "True", "NothingGranted", "no network", id="nothing granted"),
        pytest.param(
            with_grants("nowhere"), "False", "UnknownNetwork", "networks[nowhere]", id="no network"
        ),
        pytest.param(
            with_grants("host", podLimits={"hostNetwork": False}),
            "False",
            "HostNetworkNotAllowed",
            "podLimits.hostNetwork: true",
            id="the host's network without its switch",
        ),
        pytest.param(
            with_grants(granted("roce", 310)), "False", "NumberUnusable", "310", id="out of range"
        ),
        pytest.param(
            with_grants(granted("tokens", 210)),
            "False",
            "NumberUnusable",
            "carries no partition",
            id="a number for nothing",
        ),
        pytest.param(
            with_grants("roce"), "False", "NumberMissing", "no VLAN is set", id="no number yet"
        ),
        pytest.param(
            with_grants(granted("roce", 211)),
            "False",
            "AttachmentsMissing",
            "0 of 2 NetworkAttachmentDefinitions",
            id="no NAD yet",
        ),
        pytest.param(
            cluster(nad("rdma-roce-r0-v0210", "nvidia.com/roce_r0", type="sriov", vlan=7)),
            "False",
            "NetworkAttachmentInvalid",
            "carries VLAN 7",
            id="another NAD than it should be",
        ),
        pytest.param(
            cluster(policy(granted("roce", 210), namespace="team-b")),
            "False",
            "PartitionConflict",
            "belongs to another tenant too",
            id="a number of two tenants",
        ),
        pytest.param(
            cluster(network("roce", "SRIOVEthernet", rail("r0", "acme.io/x"))),
            "False",
            "NetworkNotAccepted",
            "acme.io/x",
            id="a network that contradicts itself",
        ),
        pytest.param(
            cluster(network("tokens", "HostDevice", VF)),
            "False",
            "ModeNotSupported",
            "HostDevice",
            id="a mode of later",
        ),
        pytest.param(
            with_grants("tokens", minimumIsolation="Soft"),
            "False",
            "IsolationTooWeak",
            "isolates tenants None, and minimumIsolation is Soft",
            id="a network that isolates too little",
        ),
        pytest.param(
            snapshot({**policy(), "spec": 7}), "False", "Unreadable", "spec: ", id="never parsed"
        ),
        pytest.param(
            cluster().apply([Put("RDMAPolicy", {**policy(), "spec": 7})]),
            "False",
            "Unreadable",
            "the version before still counts",
            id="was right",
        ),
    ],
)
def test_a_policy_is_ready_or_says_why_not(
    known: Snapshot, status: str, reason: str, words: str
) -> None:
    """One word for tools, one sentence for people."""
    found = stood(known)["Ready"]
    assert (found.status, found.reason) == (status, reason)
    assert words in found.message


def test_what_explains_the_rest_is_said_first() -> None:
    """An unknown network before a missing NAD, and how many more there are."""
    found = stood(with_grants(granted("roce", 211), "nowhere", granted("ib", 0x99)))
    assert found["Ready"].reason == "UnknownNetwork"
    assert found["Ready"].message.endswith("(2 more of its networks cannot be used)")
    assert (found["UnknownNetwork"].status, found["UnknownNetwork"].reason) == (
        "True",
        "NetworkMissing",
    )
    assert "RDMANetwork nowhere" in found["UnknownNetwork"].message
    assert found["PartitionConflict"].status == "False"


def test_a_conflict_names_no_other_tenant() -> None:
    """Tenants read the status of their policy."""
    known = cluster(policy(granted("roce", 210), namespace="team-b", tenant="secret-customer"))
    found = stood(known)["PartitionConflict"]
    assert (found.status, found.reason) == ("True", "NumberTaken")
    assert "secret-customer" not in found.message
    assert "team-b" not in found.message


@pytest.mark.parametrize(
    ("outdated", "status", "reason", "words"),
    [
        (None, "Unknown", "NotCounted", "not looked at"),
        ((), "False", "NoneOutdated", "No running pod"),
        (("a", "b"), "True", "PodsKeepOldRights", "2 running pods keep what they were"),
        (tuple("abcdefghijk"), "True", "PodsKeepOldRights", "a, b, c, d, e, f, g, h and 3 more"),
    ],
)
def test_pods_of_earlier_rights_are_counted_and_the_first_named(
    outdated: tuple[str, ...] | None, status: str, reason: str, words: str
) -> None:
    """Never a long list."""
    found = stood(cluster(), outdated)["Outdated"]
    assert (found.status, found.reason) == (status, reason)
    assert words in found.message


def test_a_policy_counts_what_it_holds() -> None:
    """Numbers, for people who look at many policies."""
    partition = {
        "kind": "RDMAPartition",
        "metadata": {"name": "roce.vlan.0210"},
        "spec": {
            "fabric": "roce",
            "type": "VLAN",
            "number": 210,
            "tenant": "namespace/team-a",
            "partition": "main",
        },
    }
    known = with_grants(granted("roce", 210), "nowhere").apply([Put("RDMAPartition", partition)])
    counts = {"networks": 1, "partitions": 1}
    assert standing.stand(known, "team-a", None).fields == {"counts": counts}
    found = standing.stand(known, "team-a", ("a", "b"))
    assert found.fields == {"counts": {**counts, "outdatedPods": 2}}


def test_a_policy_of_another_name_never_counts() -> None:
    """Its status says that there is exactly one."""
    extra = {**policy(), "metadata": {"name": "extra", "namespace": "team-a"}}
    found = standing.stray(snapshot(extra, labelled("team-a")), "team-a", "extra").findings[0]
    assert (found.type, found.status, found.reason) == ("Ready", "False", "NameInvalid")
    assert "want default" in found.message


def test_pods_of_a_policy_that_is_gone_are_named() -> None:
    """In the event that is all that is left of it."""
    assert standing.left_behind(("a", "b")) == (
        "the policy is gone; 2 running pods keep what they were admitted with: a, b"
    )


def test_a_mended_policy_is_ready_again() -> None:
    """Nothing of a trouble stays once it is over."""
    broken = cluster(without=[("NetworkAttachmentDefinition", "team-a", "rdma-ib-r0-p0011")])
    assert stood(broken)["Ready"].reason == "AttachmentsMissing"
    mended = broken.apply(
        [
            Put(
                "NetworkAttachmentDefinition",
                nad("rdma-ib-r0-p0011", "nvidia.com/ib_r0", type="ib-sriov", pkey="0x0011"),
            )
        ]
    )
    assert stood(mended)["Ready"].status == "True"
    assert stood(mended.apply([Gone("RDMANetwork", "", "ib")]))["Ready"].status == "False"
