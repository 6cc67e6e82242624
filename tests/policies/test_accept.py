"""The contradictions that one RDMANetwork can hold."""

from typing import Any

import pytest

from policies.accept import problem
from policies.network import RDMANetwork
from policies.parse import parse
from policies.rules import Rules
from tests.harness.cluster import network, rail

Object = dict[str, Any]

RULES = Rules()
VF = rail("r0", "nvidia.com/vf")
SHARED = rail("r0", "rdma/hca", master="ens1")
TAGGED = rail("r0", "rdma/hca", master="ens1.$(VLAN)")
NAMED = {"name": "r0", "networkAttachment": {"name": "x"}}
CLASS = {"name": "r0", "deviceClassName": "nic"}
VLAN = {"type": "VLAN"}
PKEY = {"type": "PKey"}


def verdict(mode: str, *rails: Object, **spec: Any) -> str | None:  # noqa: ANN401
    """What is wrong with a network."""
    return problem(parse(RDMANetwork, network("train", mode, *rails, **spec)).spec, RULES)


@pytest.mark.parametrize(
    ("mode", "rails", "spec"),
    [
        pytest.param("Macvlan", [SHARED], {}, id="macvlan on the interface itself"),
        pytest.param("Macvlan", [TAGGED], {"partition": VLAN}, id="macvlan on sub-interfaces"),
        pytest.param("IPVLAN", [{**NAMED, "resourceName": "rdma/hca"}], {}, id="an admin's NAD"),
        pytest.param("IPoIB", [SHARED], {}, id="IPoIB"),
        pytest.param("SRIOVEthernet", [VF], {"partition": VLAN}, id="VFs with a VLAN"),
        pytest.param("SRIOVEthernet", [NAMED], {}, id="the resource of an admin's NAD"),
        pytest.param("SRIOVInfiniBand", [VF], {"partition": PKEY}, id="VFs with a PKey"),
        pytest.param(
            "SRIOVInfiniBand",
            [VF],
            {"partition": {"type": "PKey", "min": 1, "max": 0x7FFE}},
            id="the whole range of PKeys",
        ),
        pytest.param("HostDevice", [VF], {"count": 4}, id="more attachments than rails"),
        pytest.param("HostNetwork", [rail("r0", "rdma/hca")], {"count": 8}, id="many tokens"),
        pytest.param(
            "DeviceOnly", [rail("r0", "rdma/ib")], {"perAccelerator": 2}, id="devices by GPU"
        ),
        pytest.param("DRA", [CLASS], {}, id="a device class"),
        pytest.param("DRA", [{**CLASS, **NAMED}], {}, id="a device class that needs a NAD"),
        pytest.param("Macvlan", [SHARED], {"count": "All"}, id="all rails by that word"),
        pytest.param("Macvlan", [SHARED], {"count": 1}, id="as many as there are rails"),
        pytest.param("Macvlan", [SHARED], {"template": {"mtu": 9000, "ipam": {}}}, id="CNI keys"),
        pytest.param(
            "Macvlan",
            [SHARED],
            {
                "podDefaults": {
                    "capabilities": {"add": ["IPC_LOCK"]},
                    "hugepages": {"hugepages-2Mi": 1},
                }
            },
            id="what pods get",
        ),
    ],
)
def test_a_network_that_can_work_is_accepted(mode: str, rails: list[Object], spec: Object) -> None:
    """Every mode has its own needs, and these are met."""
    assert verdict(mode, *rails, **spec) is None


@pytest.mark.parametrize(
    ("mode", "rails", "spec", "sentence"),
    [
        pytest.param("HostDevice", [VF, VF], {}, "spec.rails: a name occurs twice", id="names"),
        pytest.param(
            "HostDevice",
            [rail("r0", "example.com/x")],
            {},
            "spec.rails[r0].resourceName: example.com/x is outside the settings' "
            "governedResources or is an accelerator",
            id="a resource that is not governed",
        ),
        pytest.param(
            "HostDevice",
            [rail("r0", "nvidia.com/gpu")],
            {},
            "spec.rails[r0].resourceName: nvidia.com/gpu is outside the settings' "
            "governedResources or is an accelerator",
            id="an accelerator as a NIC",
        ),
        pytest.param(
            "Macvlan",
            [SHARED],
            {"count": 1, "perAccelerator": 1},
            "spec.count and spec.perAccelerator: only one of them can say what NAME means",
            id="two meanings of a bare name",
        ),
        pytest.param(
            "IPoIB",
            [SHARED],
            {"count": 2},
            "spec.count: 2 is more than the 1 rails of IPoIB",
            id="more than one a rail",
        ),
        pytest.param(
            "HostNetwork",
            [rail("r0", "rdma/hca")],
            {"partition": VLAN},
            "spec.partition: mode HostNetwork carries no partition",
            id="a partition that nothing carries",
        ),
        pytest.param(
            "SRIOVEthernet",
            [VF],
            {"partition": PKEY},
            "spec.partition.type: mode SRIOVEthernet carries a VLAN, not a PKey",
            id="the other kind of partition",
        ),
        pytest.param(
            "SRIOVEthernet",
            [VF],
            {"partition": {"type": "VLAN", "min": 9, "max": 8}},
            "spec.partition: min 9 is above max 8",
            id="an empty range",
        ),
        pytest.param(
            "SRIOVEthernet",
            [VF],
            {"partition": {"type": "VLAN", "min": 4095}},
            "spec.partition: a VLAN is at most 4094",
            id="a range beyond VLANs",
        ),
        pytest.param(
            "Macvlan",
            [VF],
            {},
            "spec.rails[r0]: mode Macvlan needs master or networkAttachment",
            id="no interface",
        ),
        pytest.param("DRA", [VF], {}, "spec.rails[r0]: mode DRA needs deviceClassName", id="DRA"),
        pytest.param(
            "SRIOVEthernet",
            [CLASS],
            {},
            "spec.rails[r0]: mode SRIOVEthernet needs resourceName",
            id="no resource",
        ),
        pytest.param(
            "DeviceOnly",
            [NAMED],
            {},
            "spec.rails[r0]: mode DeviceOnly needs resourceName",
            id="a NAD in place of a resource where none is selected",
        ),
        pytest.param(
            "SRIOVEthernet",
            [{**VF, **CLASS}],
            {},
            "spec.rails[r0].deviceClassName: is for mode DRA only",
            id="a device class elsewhere",
        ),
        pytest.param(
            "HostNetwork",
            [{**NAMED, "resourceName": "rdma/hca"}],
            {},
            "spec.rails[r0].networkAttachment: mode HostNetwork selects none",
            id="a NAD that no one selects",
        ),
        pytest.param(
            "Macvlan",
            [TAGGED],
            {},
            "spec.rails[r0].master: $(VLAN) needs spec.partition",
            id="a number that nobody has",
        ),
        pytest.param(
            "Macvlan",
            [SHARED],
            {"partition": VLAN},
            "spec.rails[r0].master: a VLAN is on the sub-interface: write ens1.$(VLAN)",
            id="an interface that carries no VLAN",
        ),
        pytest.param(
            "HostDevice",
            [VF],
            {"podDefaults": {"capabilities": {"add": ["B", "A"], "drop": ["A", "B"]}}},
            "spec.podDefaults.capabilities: A is both added and dropped",
            id="a capability both ways",
        ),
        pytest.param(
            "HostDevice",
            [VF],
            {"podDefaults": {"hugepages": {"2Mi": "1Gi"}}},
            "spec.podDefaults.hugepages.2Mi: want a page size such as hugepages-2Mi",
            id="a page size without its prefix",
        ),
        pytest.param(
            "HostDevice",
            [VF],
            {"template": {"mtu": 9000, "VLAN": 7}},
            "spec.template.VLAN: a VLAN comes from the tenant's partition",
            id="a number by the back door, in any letter case",
        ),
        pytest.param(
            "HostDevice",
            [VF],
            {"template": {"ma\u017fter": "ens1"}},
            "spec.template.ma\u017fter: write it as master of the rail",
            id="a letter that Go takes for an s",
        ),
    ],
)
def test_a_contradiction_is_said_with_its_path(
    mode: str, rails: list[Object], spec: Object, sentence: str
) -> None:
    """One sentence: the path, the problem, and what is wanted."""
    assert verdict(mode, *rails, **spec) == sentence
