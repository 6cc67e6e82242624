"""RDMANetwork as a model: what cannot be written down at all."""

from typing import Any

import pytest

from policies.errors import InvalidObject
from policies.network import Mode, RDMANetwork
from policies.parse import parse
from tests.harness.cluster import network, rail

Object = dict[str, Any]

HCA = rail("r0", "rdma/hca")


def test_everything_that_a_network_may_say_is_read() -> None:
    """Names are camelCase on the wire, and the order of the rails is kept."""
    raw = network(
        "train",
        "Macvlan",
        rail("r1", "rdma/hca", master="ens1.$(VLAN)", altNames=["eth1"], hca="mlx5_0"),
        {"name": "r0", "networkAttachment": {"name": "x.y", "namespace": "fabric"}},
        fabric="leaf",
        partition={"type": "VLAN", "min": 200, "max": 299},
        count="All",
        template={"mtu": 9000, "ipam": {"type": "static"}},
        hostInterfaces="PreCreated",
        podDefaults={"sharedMemory": "16Gi"},
    )
    spec = parse(RDMANetwork, raw).spec
    first, second = spec.rails
    assert (spec.mode, spec.fabric, spec.count) == (Mode.MACVLAN, "leaf", "All")
    assert (first.name, first.master, first.alt_names, first.hca) == (
        "r1",
        "ens1.$(VLAN)",
        ("eth1",),
        "mlx5_0",
    )
    assert second.network_attachment is not None
    assert (second.network_attachment.namespace, second.network_attachment.name) == (
        "fabric",
        "x.y",
    )
    assert spec.template == {"mtu": 9000, "ipam": {"type": "static"}}
    assert spec.host_interfaces == "PreCreated"


@pytest.mark.parametrize(
    ("name", "rails", "spec", "path"),
    [
        pytest.param("a.b", [HCA], {}, "metadata.name", id="a name with a dot"),
        pytest.param("default", [HCA], {}, "metadata.name", id="the reserved word"),
        pytest.param("a" * 64, [HCA], {}, "metadata.name", id="a name too long"),
        pytest.param("a", [], {}, "spec.rails", id="no rail"),
        pytest.param("a", [HCA] * 17, {}, "spec.rails", id="too many rails"),
        pytest.param("a", [rail("r" * 33, "rdma/a")], {}, "spec.rails.0.name", id="a long rail"),
        pytest.param("a", [rail("r0", "cpu")], {}, "resourceName", id="no extended resource"),
        pytest.param("a", [rail("r0", "rdma/a", master="a b")], {}, "master", id="a space"),
        pytest.param("a", [HCA], {"count": 0}, "spec.count", id="a count of zero"),
        pytest.param("a", [HCA], {"count": True}, "spec.count", id="a count that is none"),
        pytest.param("a", [HCA], {"count": "Some"}, "spec.count", id="another word"),
        pytest.param("a", [HCA], {"perAccelerator": "2"}, "perAccelerator", id="a text"),
        pytest.param(
            "a", [HCA], {"partition": {"type": "PKey", "max": 0x10000}}, "max", id="beyond PKeys"
        ),
        pytest.param("a", [HCA], {"partition": {"min": 1}}, "partition.type", id="no type"),
        pytest.param("a", [HCA], {"hostInterfaces": "Later"}, "hostInterfaces", id="another word"),
    ],
)
def test_what_is_out_of_bounds_is_said_with_its_path(
    name: str, rails: list[Object], spec: Object, path: str
) -> None:
    """Files are held to the bounds of the CRD."""
    with pytest.raises(InvalidObject, match=path):
        parse(RDMANetwork, network(name, "HostNetwork", *rails, **spec))
