"""What decisions ask of the cluster's wishes at one moment."""

from policies.changes import Put
from policies.rules import Rules
from policies.shapes import PartitionType
from policies.snapshot import Snapshot
from tests.harness.cluster import claim, granted, nad, network, policy, rail, snapshot

VLAN = PartitionType.VLAN
VF = rail("r0", "nvidia.com/vf")
BY_VLAN = {"type": "VLAN"}


def test_holders_and_claimants_are_those_of_the_fabric() -> None:
    """A number means something within one fabric and one kind only."""
    found = snapshot(
        network("a", "SRIOVEthernet", VF, partition=BY_VLAN, fabric="leaf"),
        network("b", "SRIOVEthernet", VF, partition=BY_VLAN, fabric="leaf"),
        network("c", "SRIOVEthernet", VF, partition=BY_VLAN, fabric="spine"),
        network("d", "DeviceOnly", VF, fabric="leaf"),
        policy(granted("a", 210), tenant="acme"),
        policy(granted("b", 210), namespace="team-b"),
        policy(granted("c", 210), granted("d", 210), namespace="team-c"),
        claim("p", "acme"),
    )
    assert found.claimants("leaf", VLAN, 210) == {"acme", "namespace/team-b"}
    assert found.claimants("spine", VLAN, 210) == {"namespace/team-c"}
    assert found.claimants("leaf", PartitionType.PKEY, 210) == frozenset()
    assert found.claimants("leaf", VLAN, 211) == frozenset()
    assert found.holder("leaf", VLAN, 210) == "acme"
    assert found.holder("spine", VLAN, 210) is None


def test_of_two_holders_of_one_number_the_first_by_name_counts() -> None:
    """Whichever came first, so that all replicas say the same."""
    one, other = claim("p", "beta"), claim("q", "acme")
    assert snapshot(one, other).holder("leaf", VLAN, 210) == "acme"
    assert snapshot(other, one).holder("leaf", VLAN, 210) == "acme"


def test_a_status_that_is_written_keeps_what_was_worked_out() -> None:
    """Policies and networks have a status that the leader writes often."""
    tenant, train = policy(granted("a", 210)), network("a", "SRIOVEthernet", VF, partition=BY_VLAN)
    found = snapshot(tenant, train)
    status = {"conditions": [{"type": "Ready", "status": "True"}], "counts": {"networks": 1}}
    written = [Put(one["kind"], {**one, "status": status}) for one in (tenant, train)]
    assert found.apply(written) is found


def test_problems_are_said_in_order() -> None:
    """Whichever order they came in."""
    broken = [{**network(name, "DeviceOnly", VF), "spec": 7} for name in ("b", "c", "a")]
    assert [text.split(":")[0] for text in snapshot(*broken).problems] == [
        f"RDMANetwork {name}" for name in "abc"
    ]


def test_what_is_not_known_is_empty() -> None:
    """A namespace that nobody named has a shard, and no NAD."""
    found = snapshot(nad("x", type="bridge"))
    assert found.shard("nowhere").tenancy is None
    assert found.nad("nowhere", "x") is None
    assert found.nad("team-a", "y") is None
    assert found.nad("team-a", "x") is not None


def test_what_a_pod_waits_for_is_known_once_it_is_there() -> None:
    """Readable or not: a policy that cannot be read is an answer too."""
    empty = Snapshot.empty(Rules())
    unread = {"metadata": {"name": "default", "namespace": "team-z"}, "spec": {"networks": 1}}
    found = empty.apply(
        [
            Put("RDMAPolicy", unread),
            Put("RDMANetwork", network("train", "DeviceOnly", rail("r0", "rdma/ib"))),
            Put("NetworkAttachmentDefinition", nad("mine", type="sriov")),
        ]
    )
    for place in (
        ("RDMAPolicy", "team-z", "default"),
        ("RDMANetwork", "", "train"),
        ("NetworkAttachmentDefinition", "team-a", "mine"),
    ):
        assert found.knows(*place)
        assert not empty.knows(*place)
