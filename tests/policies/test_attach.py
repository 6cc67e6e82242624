"""Whether a NetworkAttachmentDefinition is what network, rail and partition say."""

from typing import Any

import pytest

from policies import nad as nads
from policies.attach import difference, isolation
from policies.nad import Nad
from policies.network import NetworkSpec, RDMANetwork
from policies.parse import parse
from policies.shapes import Isolation
from tests.harness.cluster import nad, network, rail

Object = dict[str, Any]

VLAN = {"type": "VLAN"}
PKEY = {"type": "PKey"}


def spec(mode: str, one: Object, partition: Object | None = VLAN) -> NetworkSpec:
    """A network of one rail."""
    fields = {"partition": partition} if partition else {}
    return parse(RDMANetwork, network("train", mode, one, **fields)).spec


def found(resource: str = "nvidia.com/vf", **config: Any) -> Nad:  # noqa: ANN401
    """A NAD as it is read."""
    return nads.read(nad("x", resource, **config))


def verdict(of: NetworkSpec, one: Nad, number: int | None) -> str | None:
    """How a NAD differs from the network's only rail."""
    return difference(of, of.rails[0], one, number)


VF = rail("r0", "nvidia.com/vf")
OF_NAD: Object = {"name": "r0", "networkAttachment": {"name": "x"}}
OF_ADMIN: Object = {"name": "r0", "networkAttachment": {"name": "x", "namespace": "fabric"}}
SRIOV = spec("SRIOVEthernet", VF)
SRIOV_PLAIN = spec("SRIOVEthernet", VF, None)
IB = spec("SRIOVInfiniBand", VF, PKEY)
IB_PLAIN = spec("SRIOVInfiniBand", VF, None)
MACVLAN = spec("Macvlan", rail("r0", "rdma/hca", master="ens1.$(VLAN)", altNames=["eth1"]))
MACVLAN_PLAIN = spec("Macvlan", rail("r0", "rdma/hca", master="ens1", altNames=["eth1"]), None)
MACVLAN_OF_NAD = spec("Macvlan", {**OF_NAD, "resourceName": "rdma/hca"})
MACVLAN_ANY = spec("Macvlan", {**OF_NAD, "resourceName": "rdma/hca"}, None)
IPVLAN = spec("IPVLAN", rail("r0", "rdma/hca", master="ens1.$(VLAN)"))


@pytest.mark.parametrize(
    ("of", "one", "number"),
    [
        pytest.param(SRIOV, found(type="sriov", vlan=210), 210, id="the tenant's VLAN"),
        pytest.param(
            SRIOV,
            found(plugins=[{"type": "sriov", "vlan": 210}, {"type": "rdma"}, {"type": "tuning"}]),
            210,
            id="meta plugins behind it",
        ),
        pytest.param(
            SRIOV,
            found(type="sriov", vlan=210, ipam={"type": "whereabouts"}),
            210,
            id="addresses of a known plugin",
        ),
        pytest.param(SRIOV_PLAIN, found(type="sriov"), None, id="no VLAN where none is meant"),
        pytest.param(SRIOV_PLAIN, found(type="sriov", vlan=0), None, id="VLAN 0 is none"),
        pytest.param(
            spec("SRIOVEthernet", OF_ADMIN, None),
            found(type="sriov", vlan=999),
            None,
            id="any VLAN in the admin's own NAD of a fixed namespace",
        ),
        pytest.param(
            spec("SRIOVEthernet", OF_NAD), found(type="sriov", vlan=7), 7, id="resource of the NAD"
        ),
        pytest.param(IB, found(type="ib-sriov", pkey="0x0011"), 0x11, id="the tenant's PKey"),
        pytest.param(IB_PLAIN, found(type="ib-sriov"), None, id="no PKey where none is meant"),
        pytest.param(IB_PLAIN, found(type="ib-sriov", pkey="0x0"), None, id="PKey 0 is none"),
        pytest.param(
            MACVLAN, found("", type="macvlan", master="ens1.210"), 210, id="the VLAN's interface"
        ),
        pytest.param(
            MACVLAN, found("", type="macvlan", master="eth1.210"), 210, id="its other name"
        ),
        pytest.param(
            MACVLAN_PLAIN, found("", type="macvlan", master="ens1"), None, id="the rail itself"
        ),
        pytest.param(
            MACVLAN_OF_NAD,
            found("", type="macvlan", master="bond0.7"),
            7,
            id="any interface of that VLAN where the rail names none",
        ),
        pytest.param(
            MACVLAN_ANY, found("", type="macvlan"), None, id="whatever the admin's NAD says"
        ),
        pytest.param(
            IPVLAN, found("rdma/hca", type="ipvlan", master="ens1.210"), 210, id="ipvlan likewise"
        ),
    ],
)
def test_a_nad_that_is_right_is_taken(of: NetworkSpec, one: Nad, number: int | None) -> None:
    """Type, addresses, resource and number are as network, rail and policy say."""
    assert verdict(of, one, number) is None


@pytest.mark.parametrize(
    ("of", "one", "number", "problem"),
    [
        pytest.param(SRIOV, found(), 210, "a plugin has no type", id="unreadable"),
        pytest.param(
            SRIOV,
            found(type="macvlan"),
            210,
            "type is macvlan, but mode SRIOVEthernet needs sriov",
            id="another plugin",
        ),
        pytest.param(
            SRIOV,
            found(plugins=[{"type": "sriov", "vlan": 210}, {"type": "bridge"}]),
            210,
            "plugin bridge may not follow sriov",
            id="a second plugin that makes an interface",
        ),
        pytest.param(
            SRIOV,
            found(type="sriov", vlan=210, ipam={"type": "macvlan"}),
            210,
            "ipam.type macvlan is no known address plugin",
            id="another plugin in the place of addresses",
        ),
        pytest.param(
            SRIOV,
            found(type="sriov", vlan=210, deviceID="0000:17:00.0"),
            210,
            "names a fixed device of the node",
            id="a fixed device",
        ),
        pytest.param(
            SRIOV,
            found(type="sriov", vlan=210, args={"cni": {"mac": "02:00:00:00:00:01"}}),
            210,
            "carries args",
            id="arguments for the plugin",
        ),
        pytest.param(
            SRIOV, found("", type="sriov", vlan=210), 210, "hand it no device", id="no resource"
        ),
        pytest.param(
            SRIOV,
            found("nvidia.com/other", type="sriov", vlan=210),
            210,
            "resourceName is nvidia.com/other, but the rail's is nvidia.com/vf",
            id="another resource",
        ),
        pytest.param(
            spec("Macvlan", OF_NAD),
            found("", type="macvlan", master="ens1.7"),
            7,
            "and the rail resourceName",
            id="no resource at all",
        ),
        pytest.param(
            SRIOV,
            found(type="sriov", vlan=211),
            210,
            "carries VLAN 211, but the policy says VLAN 210",
            id="another tenant's VLAN",
        ),
        pytest.param(
            SRIOV, found(type="sriov", vlan=0), 210, "carries no VLAN, but", id="no VLAN at all"
        ),
        pytest.param(
            SRIOV_PLAIN,
            found(type="sriov", vlan=210),
            None,
            "carries VLAN 210, but the policy says no VLAN",
            id="a VLAN where none is meant",
        ),
        pytest.param(
            IB,
            found(type="ib-sriov", pkey="0x8011"),
            0x11,
            "carries PKey 0x8011, but the policy says PKey 0x0011",
            id="the membership bit, which ib-kubernetes refuses",
        ),
        pytest.param(IB, found(type="ib-sriov"), 0x11, "carries no PKey, but", id="no PKey at all"),
        pytest.param(
            IB_PLAIN,
            found(type="ib-sriov", pkey="0x7fff"),
            None,
            "carries PKey 0x7fff, but the policy says no PKey",
            id="the default partition where none is meant",
        ),
        pytest.param(
            MACVLAN,
            found("", type="macvlan", master="ens1.211"),
            210,
            "master is ens1.211, but the policy says ens1.210 or eth1.210",
            id="another VLAN's interface",
        ),
        pytest.param(
            MACVLAN,
            found("", type="macvlan"),
            210,
            "master is absent (the default route's interface)",
            id="no interface",
        ),
        pytest.param(
            MACVLAN,
            found(
                "",
                plugins=[
                    {"type": "macvlan", "master": "ens1.210"},
                    {"type": "tuning", "master": "ens2"},
                ],
            ),
            210,
            "key master is none that its plugin takes",
            id="two interfaces",
        ),
        pytest.param(
            MACVLAN_PLAIN,
            found("", type="macvlan", master="ens1.5"),
            None,
            "master is ens1.5, but the policy says ens1 or eth1",
            id="a VLAN's interface where none is meant",
        ),
        pytest.param(
            MACVLAN_OF_NAD,
            found("", type="macvlan", master="bond0"),
            7,
            "master is bond0, but the policy says <interface>.7",
            id="an untagged interface of the admin",
        ),
        pytest.param(
            MACVLAN_OF_NAD,
            found("", type="macvlan"),
            7,
            "but the policy says <interface>.7",
            id="no interface in the admin's NAD",
        ),
    ],
)
def test_a_nad_that_is_wrong_is_said(
    of: NetworkSpec, one: Nad, number: int | None, problem: str
) -> None:
    """The pod never lands in another partition than its policy says."""
    assert problem in (verdict(of, one, number) or "")


FENCED: Object = {"type": "sriov", "vlan": 210, "spoofchk": "on", "trust": "off"}


@pytest.mark.parametrize(
    ("of", "those", "expected"),
    [
        pytest.param(SRIOV, [found(**FENCED)], Isolation.HARD, id="a VF that cannot lie"),
        pytest.param(
            SRIOV,
            [found(**FENCED), found(**{**FENCED, "trust": "on"})],
            Isolation.NONE,
            id="one of two VFs is trusted",
        ),
        pytest.param(
            SRIOV, [found(**{**FENCED, "spoofchk": "off"})], Isolation.NONE, id="no spoof check"
        ),
        pytest.param(SRIOV_PLAIN, [found(**FENCED)], Isolation.NONE, id="no partition"),
        pytest.param(
            IB,
            [found(type="ib-sriov", pkey="0x11", ibKubernetesEnabled=True)],
            Isolation.HARD,
            id="a PKey that ib-kubernetes applies",
        ),
        pytest.param(
            IB,
            [found(type="ib-sriov", pkey="0x11")],
            Isolation.NONE,
            id="a PKey that is only declared",
        ),
        pytest.param(
            MACVLAN, [found("", type="macvlan", master="ens1.210")], Isolation.SOFT, id="macvlan"
        ),
        pytest.param(
            IPVLAN, [found("", type="ipvlan", master="ens1.210")], Isolation.SOFT, id="ipvlan"
        ),
        pytest.param(MACVLAN_PLAIN, [], Isolation.NONE, id="macvlan without a partition"),
    ],
)
def test_a_network_isolates_as_its_nads_do(
    of: NetworkSpec, those: list[Nad], expected: Isolation
) -> None:
    """Hard is promised only where the hardware keeps the promise on every rail."""
    assert isolation(of, tuple(those)) is expected
