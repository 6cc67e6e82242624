"""Which of a network's resources no node advertises."""

from typing import Any

import pytest

from policies.changes import Put
from policies.inventory import is_said_missing, missing_resources
from policies.snapshot import Snapshot
from tests.harness.cluster import nad, network, rail, snapshot

Object = dict[str, Any]

HCA = rail("r0", "rdma/hca")
VF = rail("r1", "nvidia.com/vf")
AGAIN = rail("r2", "rdma/hca")
THEIRS = {"name": "r3", "networkAttachment": {"namespace": "fabric", "name": "theirs"}}
OURS = {"name": "r4", "networkAttachment": {"name": "theirs"}}
BARE = {"name": "r5"}
NADS = (
    nad("theirs", "nvidia.com/theirs", "fabric", type="sriov"),
    nad("theirs", "nvidia.com/ours", "team-a", type="sriov"),
)


def known(*rails: Object, mode: str = "SRIOVEthernet", **advertised: str) -> Snapshot:
    """A network called net, with nodes n1 and n2 that advertise a resource each."""
    nodes = [
        Put("Node", {"metadata": {"name": name}, "status": {"allocatable": {resource: "8"}}})
        for name, resource in advertised.items()
    ]
    return snapshot(network("net", mode, *rails), *NADS).apply(nodes)


def missing(found: Snapshot) -> tuple[str, ...] | None:
    """What no node has of the network's resources."""
    return missing_resources(found, found.networks["net"])


def test_where_no_node_is_known_nothing_is_said() -> None:
    """Replicas in a cluster do not watch nodes."""
    assert missing(known(HCA, VF)) is None


@pytest.mark.parametrize(
    ("rails", "resources"),
    [
        pytest.param((HCA,), (), id="advertised"),
        pytest.param((VF, HCA), ("nvidia.com/vf",), id="one is not"),
        pytest.param((VF, THEIRS), ("nvidia.com/vf", "nvidia.com/theirs"), id="in order of rails"),
        pytest.param((VF, {**VF, "name": "r9"}), ("nvidia.com/vf",), id="each once"),
        pytest.param((AGAIN, HCA), (), id="shared by two rails"),
        pytest.param((OURS, BARE), (), id="what only tenants' NADs say does not count"),
        pytest.param(
            ({"name": "r", "networkAttachment": {"namespace": "fabric", "name": "gone"}},),
            (),
            id="a NAD that is not there",
        ),
    ],
)
def test_what_no_node_advertises_is_missing(
    rails: tuple[Object, ...], resources: tuple[str, ...]
) -> None:
    """Whatever the rail itself or the NAD that it names with a namespace says."""
    assert missing(known(*rails, n1="rdma/hca", n2="rdma/other")) == resources


def test_a_node_that_has_nothing_is_known_too() -> None:
    """A cluster of such nodes misses everything."""
    assert missing(known(HCA, n1="cpu")) == ("rdma/hca",)


def test_devices_of_dra_are_not_in_a_nodes_resources() -> None:
    """ResourceSlices hold them."""
    rails = ({"name": "r0", "resourceName": "rdma/hca", "deviceClassName": "rdma"},)
    assert missing(known(*rails, mode="DRA", n1="cpu")) == ()


def test_a_network_that_never_parsed_misses_nothing() -> None:
    """What is wrong with it is said elsewhere."""
    assert missing(known(HCA, mode="Carrier", n1="cpu")) == ()


def said(**changes: object) -> Object:
    """A network whose leader found no node with its resources."""
    condition = {"type": "ResourcesAdvertised", "status": "False", "observedGeneration": 7}
    return {
        **network("net", "DeviceOnly", HCA),
        "metadata": {"name": "net", "generation": 7},
        "status": {"conditions": [{"type": "Accepted", "status": "True"}, condition]},
        **changes,
    }


def condition(**changes: object) -> Object:
    """The same with another condition."""
    first = {"type": "ResourcesAdvertised", "status": "False", "observedGeneration": 7}
    return said(status={"conditions": [{**first, **changes}]})


def test_what_the_leader_says_is_known() -> None:
    """And forgotten when it says otherwise."""
    found = snapshot(said())
    assert found.networks["net"].is_unadvertised
    again = found.apply([Put("RDMANetwork", condition(status="True"))])
    assert not again.networks["net"].is_unadvertised


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(condition(type="Accepted"), id="another condition"),
        pytest.param(condition(status="Unknown"), id="unknown"),
        pytest.param(condition(observedGeneration=6), id="an earlier generation"),
        pytest.param(condition(observedGeneration=None), id="no generation observed"),
        pytest.param(said(metadata={"name": "net"}), id="no generation"),
        pytest.param(said(metadata=None), id="no metadata"),
        pytest.param(said(status=None), id="no status"),
        pytest.param(said(status={"conditions": {"type": "x"}}), id="no list"),
        pytest.param(said(status={"conditions": ["ResourcesAdvertised"]}), id="no condition"),
    ],
)
def test_an_odd_status_says_nothing(raw: Object) -> None:
    """It is a hint, read as far as it can be read."""
    assert is_said_missing(said())
    assert not is_said_missing(raw)
