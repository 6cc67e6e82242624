"""Which NADs lead onto a fabric, whoever wrote them."""

from typing import Any

import pytest

from policies import nad as nads
from policies.governance import Governance, interface_of, of
from policies.network import RDMANetwork
from policies.parse import parse
from tests.harness.cluster import nad, network, rail

Object = dict[str, Any]


def governance(*networks: Object) -> Governance:
    """What the rails of some networks use."""
    return of(parse(RDMANetwork, one) for one in networks)


VFS = network("vf", "SRIOVEthernet", rail("r0", "nvidia.com/vf"))
SHARED = network("mv", "Macvlan", rail("r0", "rdma/hca", master="ens1.$(VLAN)", altNames=["eth1"]))
OWN = network("own", "SRIOVEthernet", {"name": "r0", "networkAttachment": {"name": "mine"}})
ADMINS = network(
    "admin",
    "SRIOVEthernet",
    {"name": "r0", "networkAttachment": {"name": "theirs", "namespace": "fabric"}},
)
ALL = governance(VFS, SHARED, OWN, ADMINS)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(nad("x", "nvidia.com/vf", type="sriov"), id="a rail's resource"),
        pytest.param(nad("x", type="macvlan", master="ens1"), id="a rail's interface"),
        pytest.param(nad("x", type="macvlan", master="ens1.7"), id="a sub-interface of it"),
        pytest.param(nad("x", type="vlan", master="eth1", vlanId=7), id="its other name"),
        pytest.param(
            nad("x", plugins=[{"type": "bridge"}, {"type": "tuning", "master": "ens1"}]),
            id="a rail's interface further down a chain",
        ),
        pytest.param(nad("x", type="macvlan"), id="the default route beside a macvlan rail"),
        pytest.param(nad("x", type="ipvlan"), id="the default route by ipvlan"),
        pytest.param(nad("x", type="host-device", device="eno1"), id="a fixed device"),
        pytest.param(nad("x"), id="what cannot be read"),
        pytest.param(nad("mine", type="bridge"), id="one that a rail names in any namespace"),
        pytest.param(nad("theirs", "", "fabric", type="bridge"), id="one that a rail names"),
        pytest.param(
            {
                "metadata": {"name": "x", "labels": {"rdma.io/rendered": "gone"}},
                "spec": {"config": '{"type":"bridge"}'},
            },
            id="one that we rendered",
        ),
    ],
)
def test_a_nad_on_a_fabric_is_governed(one: Object) -> None:
    """By what it uses, not by its name or its author."""
    assert ALL.governs(nads.read(one))


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(nad("x", type="macvlan", master="eno1"), id="a storage NIC"),
        pytest.param(nad("x", "intel.com/storage", type="sriov"), id="another resource"),
        pytest.param(nad("x", type="bridge", bridge="br0"), id="a bridge"),
        pytest.param(nad("theirs", type="bridge"), id="a name that a rail has elsewhere"),
        pytest.param(nad("x", type="macvlan", master="ens1.7.8x"), id="another interface's name"),
    ],
)
def test_another_nad_is_none_of_our_business(one: Object) -> None:
    """Networks that no rail uses stay their owners'."""
    assert not ALL.governs(nads.read(one))


def test_without_macvlan_rails_the_default_route_is_free() -> None:
    """Only where a rail is macvlan or ipvlan can the default route's interface be one."""
    assert not governance(VFS).governs(nads.read(nad("x", type="macvlan")))


def test_without_networks_only_what_is_dangerous_is_governed() -> None:
    """An empty cluster governs what cannot be read, and fixed devices."""
    assert governance() == Governance()
    assert Governance().governs(nads.read(nad("x", type="host-device", hwaddr="00:11")))
    assert not Governance().governs(nads.read(nad("x", "nvidia.com/vf", type="sriov")))


def test_names_are_known_with_their_namespace() -> None:
    """A rail without a namespace names a NAD of every namespace."""
    assert ALL.names("anywhere", "mine")
    assert ALL.names("fabric", "theirs")
    assert not ALL.names("anywhere", "theirs")


@pytest.mark.parametrize(
    ("master", "interface"),
    [
        ("ens1", "ens1"),
        ("ens1.210", "ens1"),
        ("ens1.$(VLAN)", "ens1"),
        ("ens1.x", "ens1.x"),
        ("ens1.210.5", "ens1"),
        (".210", ".210"),
        ("a" + ".1" * 9, "a.1"),
    ],
)
def test_a_sub_interface_is_on_its_interface(master: str, interface: str) -> None:
    """The number behind the dot, or the variable that stands for it, is cut off."""
    assert interface_of(master) == interface
