"""The shipped examples: networks, tenants, and the attachments that they are rendered to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.accept import IMPLEMENTED, MULTUS_MODES, problem
from policies.network import NetworkSpec, Rail, RDMANetwork
from policies.partition import suffix
from policies.policy import PartitionGrant, RDMAPolicy
from policies.rules import Rules

EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"
TENANTS = ("team-a", "team-b")

Document = dict[str, Any]


def _documents(folder: str) -> list[Document]:
    return [
        document
        for path in sorted((EXAMPLES / folder).glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
        if document
    ]


NETWORKS = {
    network.metadata.name: network.spec
    for network in map(RDMANetwork.model_validate, _documents("networks"))
}
POLICIES = {
    policy.metadata.namespace: policy.spec
    for policy in (
        RDMAPolicy.model_validate(document)
        for document in _documents("tenants")
        if document["kind"] == "RDMAPolicy"
    )
}
ATTACHMENTS = {
    (document["metadata"]["namespace"], document["metadata"]["name"]): document
    for document in _documents("attachments")
}


def _expected() -> Iterator[tuple[str, str, NetworkSpec, Rail, PartitionGrant]]:
    """Namespace, network and rail of each attachment there has to be."""
    for namespace, policy in POLICIES.items():
        for grant in policy.networks:
            network = NETWORKS[grant.name]
            for partition in grant.partitions if network.mode in MULTUS_MODES else ():
                for rail in network.rails:
                    yield namespace, grant.name, network, rail, partition


def _name(network_name: str, network: NetworkSpec, rail: Rail, partition: PartitionGrant) -> str:
    assert network.partition is not None
    last = suffix(network.partition.type, partition.number)
    return f"rdma-{network_name}-{rail.name}-{last}"


EXPECTED = {
    (namespace, _name(name, network, rail, partition)): (name, network, rail, partition)
    for namespace, name, network, rail, partition in _expected()
}


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_network_is_accepted(name: str) -> None:
    """No example holds a contradiction."""
    assert problem(NETWORKS[name], Rules()) is None


def test_there_is_a_network_for_each_implemented_mode() -> None:
    """Every mode of this version is shown once."""
    assert {network.mode for network in NETWORKS.values()} == IMPLEMENTED


@pytest.mark.parametrize("namespace", TENANTS)
def test_a_policy_grants_what_there_is(namespace: str) -> None:
    """Numbers are explicit and lie in the range of their network."""
    for grant in POLICIES[namespace].networks:
        network = NETWORKS[grant.name]
        bounds = network.partition
        for partition in grant.partitions:
            assert bounds is not None
            assert partition.number is not None
            assert (bounds.min or 0) <= partition.number <= (bounds.max or 0)


def test_no_number_of_a_fabric_has_two_tenants() -> None:
    """A tenant has one number on a fabric, and nobody else has it."""
    holders: dict[tuple[str | None, int | None], set[str]] = {}
    for namespace, _, network, _, partition in _expected():
        holders.setdefault((network.fabric, partition.number), set()).add(namespace)
    assert all(len(namespaces) == 1 for namespaces in holders.values())
    assert len(holders) == 6


def test_every_attachment_is_rendered_and_no_other() -> None:
    """One for each network, rail and partition that a tenant is granted."""
    assert set(ATTACHMENTS) == set(EXPECTED)


@pytest.mark.parametrize("key", sorted(ATTACHMENTS), ids=lambda key: f"{key[0]}/{key[1]}")
def test_an_attachment_carries_its_tenants_number(key: tuple[str, str]) -> None:
    """Type, number, master and resource are those of network, rail and policy, typed as CNIs want.

    sriov-cni refuses a VLAN that is a text, ib-sriov-cni a PKey that is none.
    """
    name, network, rail, partition = EXPECTED[key]
    document = ATTACHMENTS[key]
    config = json.loads(document["spec"]["config"])
    assert document["metadata"]["labels"] == {"rdma.io/rendered": name}
    assert config["name"] == key[1]
    number = partition.number
    assert number is not None
    match config["type"]:
        case "macvlan" | "ipvlan":
            assert rail.master is not None
            assert config["master"] == rail.master.replace("$(VLAN)", str(number))
            assert config["type"] == network.mode.lower()
        case "sriov":
            assert network.mode == "SRIOVEthernet"
            assert (config["vlan"], config["spoofchk"], config["trust"]) == (number, "on", "off")
            assert _resource(document) == rail.resource_name
        case _:
            assert (config["type"], network.mode) == ("ib-sriov", "SRIOVInfiniBand")
            assert config["pkey"] == f"0x{number:04x}"
            assert config["ibKubernetesEnabled"] is True
            assert config["capabilities"] == {"infinibandGUID": True}
            assert _resource(document) == rail.resource_name


def test_an_attachment_takes_the_templates_keys() -> None:
    """Variables stand for the namespace and the rail."""
    roce = json.loads(ATTACHMENTS["team-b", "rdma-roce-r1-v0220"]["spec"]["config"])
    assert roce["mtu"] == 9000
    assert roce["ipam"] == {"type": "nv-ipam", "poolName": "team-b-r1"}


def test_pods_ask_for_networks_that_exist() -> None:
    """One pod for each mode, and one that its tenant's policy refuses."""
    asked = {}
    for pod in _documents("pods"):
        if pod["kind"] == "Pod":
            networks = pod["metadata"]["annotations"]["rdma.io/network"]
            asked[pod["metadata"]["name"]] = {
                item.partition(":")[0] for item in networks.split(",")
            }
    assert set().union(*asked.values()) == set(NETWORKS)
    granted = {grant.name for grant in POLICIES["team-b"].networks}
    assert not asked["refused"] & granted


def _resource(document: Document) -> str:
    return str(document["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"])
