"""What a granted network is worth to one tenant."""

from typing import Any

import pytest

from policies.changes import Put
from policies.offers import Lane, Offer, Outcome, offer
from policies.refusal import Pending, Reason, Refusal
from policies.shapes import Isolation, PartitionType
from policies.snapshot import Snapshot
from tests.harness.cluster import granted, labelled, nad, network, policy, rail, snapshot
from tests.harness.subjects import tenancy_in

Object = dict[str, Any]

VLAN = PartitionType.VLAN
BY_VLAN = {"type": "VLAN", "min": 200, "max": 299}
FENCED: Object = {"type": "sriov", "vlan": 210, "spoofchk": "on", "trust": "off"}
VF = rail("r0", "nvidia.com/vf")
ROCE = network("train", "SRIOVEthernet", VF, partition=BY_VLAN, fabric="leaf")
NAD = nad("rdma-train-r0-v0210", "nvidia.com/vf", **FENCED)
TENANT = policy(granted("train", 210), podLimits={"hostNetwork": True})


def offered(
    found: Snapshot, partition: str = "main", namespace: str = "team-a", network: str = "train"
) -> Outcome:
    """What a namespace gets of one network."""
    tenancy = tenancy_in(found, namespace)
    grant = tenancy.grant(network)
    assert grant is not None
    return offer(found, tenancy, grant, partition)


def refused(found: Outcome) -> Refusal:
    """The outcome, which has to be a no."""
    assert isinstance(found, Refusal)
    return found


def mv(*rails: Object, **spec: Any) -> Object:  # noqa: ANN401
    """A macvlan network."""
    return network("train", "Macvlan", *rails, **spec)


@pytest.mark.parametrize(
    ("objects", "partition", "lanes", "number", "isolation"),
    [
        pytest.param(
            [ROCE, NAD, TENANT],
            "main",
            [Lane("r0", "team-a", "rdma-train-r0-v0210", "nvidia.com/vf")],
            210,
            Isolation.HARD,
            id="VFs of the tenant's VLAN",
        ),
        pytest.param(
            [
                network("train", "SRIOVInfiniBand", VF, partition={"type": "PKey"}),
                nad(
                    "rdma-train-r0-p0011",
                    "nvidia.com/vf",
                    type="ib-sriov",
                    pkey="0x0011",
                    ibKubernetesEnabled=True,
                ),
                policy(granted("train", 0x11)),
            ],
            "main",
            [Lane("r0", "team-a", "rdma-train-r0-p0011", "nvidia.com/vf")],
            0x11,
            Isolation.HARD,
            id="VFs of the tenant's PKey",
        ),
        pytest.param(
            [
                mv(
                    rail("r0", "rdma/hca", master="ens1.$(VLAN)"),
                    rail("r1", "rdma/hca", master="ens2.$(VLAN)"),
                    partition={"type": "VLAN"},
                ),
                nad("rdma-train-r0-v0007", type="macvlan", master="ens1.7"),
                nad("rdma-train-r1-v0007", type="macvlan", master="ens2.7"),
                policy(granted("train", 7)),
            ],
            "main",
            [
                Lane("r0", "team-a", "rdma-train-r0-v0007", "rdma/hca"),
                Lane("r1", "team-a", "rdma-train-r1-v0007", "rdma/hca"),
            ],
            7,
            Isolation.SOFT,
            id="macvlan on two rails of a VLAN",
        ),
        pytest.param(
            [
                network("train", "IPVLAN", rail("r0", "rdma/hca", master="ens1")),
                nad("rdma-train-r0-none", type="ipvlan", master="ens1"),
                policy("train"),
            ],
            "",
            [Lane("r0", "team-a", "rdma-train-r0-none", "rdma/hca")],
            None,
            Isolation.NONE,
            id="ipvlan without a partition",
        ),
        pytest.param(
            [
                network("train", "HostNetwork", rail("r0", "rdma/hca")),
                policy("train", podLimits={"hostNetwork": True}),
            ],
            "",
            [Lane("r0", "", "", "rdma/hca")],
            None,
            Isolation.NONE,
            id="the host's network",
        ),
        pytest.param(
            [
                network("train", "DeviceOnly", rail("r0", "rdma/a"), rail("r1", "rdma/b")),
                policy("train"),
            ],
            "",
            [Lane("r0", "", "", "rdma/a"), Lane("r1", "", "", "rdma/b")],
            None,
            Isolation.NONE,
            id="devices alone",
        ),
        pytest.param(
            [
                network(
                    "train",
                    "SRIOVEthernet",
                    {"name": "r0", "networkAttachment": {"name": "ours", "namespace": "fabric"}},
                ),
                nad("ours", "nvidia.com/ours", "fabric", type="sriov", vlan=999),
                policy("train"),
            ],
            "",
            [Lane("r0", "fabric", "ours", "nvidia.com/ours")],
            None,
            Isolation.NONE,
            id="an admin's NAD of a fixed namespace, with the resource it names",
        ),
        pytest.param(
            [
                network(
                    "train",
                    "SRIOVEthernet",
                    {"name": "r0", "networkAttachment": {"name": "ours"}},
                    partition={"type": "VLAN"},
                ),
                nad("ours", "nvidia.com/ours", **FENCED),
                policy(granted("train", 210)),
            ],
            "main",
            [Lane("r0", "team-a", "ours", "nvidia.com/ours")],
            210,
            Isolation.HARD,
            id="an admin's NAD of the pod's own namespace, with the tenant's number",
        ),
    ],
)
def test_every_mode_has_its_offer(
    objects: list[Object],
    partition: str,
    lanes: list[Lane],
    number: int | None,
    isolation: Isolation,
) -> None:
    """NADs found and verified, a number, the resource of each rail, and what it isolates."""
    found = offered(snapshot(*objects), partition)
    assert isinstance(found, Offer)
    assert list(found.lanes) == lanes
    assert (found.number, found.isolation) == (number, isolation)
    assert found.partition == (partition if number else "")


def test_an_offer_is_worked_out_once() -> None:
    """It depends on the snapshot alone, and is forgotten with it."""
    first = snapshot(ROCE, NAD, TENANT)
    assert offered(first) is offered(first)
    second = first.apply([Put("Namespace", labelled("team-b", warn="baseline"))])
    assert offered(second) is not offered(first)
    assert offered(second) == offered(first)


def test_the_policys_defaults_are_laid_over_the_networks() -> None:
    """An offer carries what a pod gets where it says nothing."""
    fabric = network(
        "train",
        "HostNetwork",
        rail("r0", "rdma/hca"),
        podDefaults={"env": [{"name": "A", "value": "net"}, {"name": "B", "value": "net"}]},
    )
    tenant = policy(
        "train",
        podDefaults={"env": [{"name": "A", "value": "policy"}]},
        podLimits={"hostNetwork": True},
    )
    found = offered(snapshot(fabric, tenant), "")
    assert isinstance(found, Offer)
    assert found.defaults.env == (("A", "policy"), ("B", "net"))


OWN = {"name": "r0", "networkAttachment": {"name": "mine"}}
SECRET = network("secret", "SRIOVEthernet", rail("r0", "nvidia.com/secret"))
FABRIC = network("fabric", "Macvlan", rail("r0", "rdma/hca", master="ens1f0np0"))


@pytest.mark.parametrize(
    ("mode", "config", "resource", "problem"),
    [
        pytest.param(
            "SRIOVEthernet",
            {"type": "sriov"},
            "nvidia.com/secret",
            "resource nvidia.com/secret belongs to another network",
            id="the pool of another network",
        ),
        pytest.param(
            "SRIOVEthernet",
            {"type": "sriov"},
            "nvidia.com/gpu",
            "resource nvidia.com/gpu is outside governedResources or is an accelerator",
            id="an accelerator",
        ),
        pytest.param(
            "Macvlan",
            {"type": "macvlan", "master": "ens1f0np0.220"},
            "rdma/own",
            "master ens1f0np0.220 belongs to another network",
            id="the interface of another network",
        ),
    ],
)
def test_what_a_rail_leaves_open_no_tenant_can_fill_with_anothers(
    mode: str, config: Object, resource: str, problem: str
) -> None:
    """A NAD in the pod's own namespace may have been written by its tenant."""
    objects = (SECRET, FABRIC, network("train", mode, OWN), policy("train"))
    found = refused(offered(snapshot(*objects, nad("mine", resource, **config)), ""))
    assert found.reason is Reason.ATTACHMENT_INVALID
    assert problem in found.message


def test_a_pkey_that_nobody_sets_is_noted() -> None:
    """Without ib-kubernetes the key stands in the NAD alone."""
    for enabled in (True, False):
        fabric = network(
            "train", "SRIOVInfiniBand", rail("r0", "nvidia.com/ib"), partition={"type": "PKey"}
        )
        one = nad(
            "rdma-train-r0-p0011",
            "nvidia.com/ib",
            type="ib-sriov",
            pkey="0x0011",
            ibKubernetesEnabled=enabled,
        )
        found = offered(snapshot(fabric, one, policy(granted("train", 0x11))), "main")
        assert isinstance(found, Offer)
        assert found.declares_only == ("" if enabled else "team-a/rdma-train-r0-p0011")


def test_a_nad_with_host_local_addresses_is_noted() -> None:
    """Two nodes would hand out the same address."""
    addressed = nad("rdma-train-r0-v0210", "nvidia.com/vf", **FENCED, ipam={"type": "host-local"})
    found = offered(snapshot(ROCE, addressed, TENANT))
    assert isinstance(found, Offer)
    assert found.uses_host_local == "team-a/rdma-train-r0-v0210"


def test_a_network_that_is_not_there_may_still_come() -> None:
    """Files apply in any order: the pod waits, and the answer is ready if it does not come."""
    found = offered(snapshot(TENANT))
    assert isinstance(found, Pending)
    assert (found.kind, found.namespace, found.name) == ("RDMANetwork", "", "train")
    assert found.refusal.reason is Reason.POLICY_NOT_READY
    assert "there is no RDMANetwork of that name" in found.refusal.message


def test_nads_that_are_not_there_may_still_come() -> None:
    """The first that is missing is waited for, and the message says how far it is."""
    three = network("train", "SRIOVEthernet", *(rail(f"r{n}", "nvidia.com/vf") for n in range(3)))
    there = nad("rdma-train-r1-none", "nvidia.com/vf", type="sriov")
    found = offered(snapshot(three, there, policy("train")), "")
    assert isinstance(found, Pending)
    assert (found.kind, found.namespace) == ("NetworkAttachmentDefinition", "team-a")
    assert found.name == "rdma-train-r0-none"
    assert found.refusal.reason is Reason.POLICY_NOT_READY
    assert "1 of 3 NetworkAttachmentDefinitions are there" in found.refusal.message


@pytest.mark.parametrize(
    ("config", "resource", "problem"),
    [
        pytest.param({**FENCED, "vlan": 211}, "nvidia.com/vf", "carries VLAN 211", id="VLAN"),
        pytest.param({**FENCED, "type": "macvlan"}, "nvidia.com/vf", "needs sriov", id="type"),
        pytest.param(FENCED, "nvidia.com/other", "but the rail's is nvidia.com/vf", id="resource"),
        pytest.param(
            {**FENCED, "ipam": {"type": "bridge"}}, "nvidia.com/vf", "no known address", id="ipam"
        ),
        pytest.param({}, "nvidia.com/vf", "a plugin has no type", id="what cannot be read"),
    ],
)
def test_a_nad_that_is_wrong_refuses_the_pod(config: Object, resource: str, problem: str) -> None:
    """The pod never starts in another partition; NAD, network and rail are named."""
    found = refused(offered(snapshot(ROCE, nad("rdma-train-r0-v0210", resource, **config), TENANT)))
    assert found.reason is Reason.ATTACHMENT_INVALID
    assert found.message.startswith("NetworkAttachmentDefinition team-a/rdma-train-r0-v0210: ")
    assert problem in found.message
    assert "(network train, rail r0)" in found.message


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"type": "ib-sriov", "pkey": "0x0012"}, "carries PKey 0x0012"),
        ({"type": "ib-sriov", "pkey": "0x8011"}, "carries PKey 0x8011"),
        ({"type": "ib-sriov"}, "carries no PKey"),
    ],
)
def test_a_nad_of_another_pkey_refuses_the_pod(config: Object, problem: str) -> None:
    """A PKey is compared as ib-kubernetes reads it."""
    fabric = network("train", "SRIOVInfiniBand", VF, partition={"type": "PKey"})
    one = nad("rdma-train-r0-p0011", "nvidia.com/vf", **config)
    found = refused(offered(snapshot(fabric, one, policy(granted("train", 0x11)))))
    assert found.reason is Reason.ATTACHMENT_INVALID
    assert problem in found.message


def test_a_nad_on_another_interface_refuses_the_pod() -> None:
    """The master of macvlan carries the VLAN."""
    fabric = mv(rail("r0", "rdma/hca", master="ens1.$(VLAN)"), partition={"type": "VLAN"})
    one = nad("rdma-train-r0-v0007", type="macvlan", master="ens1.8")
    found = refused(offered(snapshot(fabric, one, policy(granted("train", 7)))))
    assert found.reason is Reason.ATTACHMENT_INVALID
    assert "master is ens1.8, but the policy says ens1.7" in found.message


@pytest.mark.parametrize("mode", ["IPoIB", "HostDevice", "DRA"])
def test_a_mode_of_a_later_version_is_refused_by_name(mode: str) -> None:
    """The message lists the modes that this version equips pods for."""
    one: Object = rail("r0", "rdma/hca", master="ib0")
    if mode == "DRA":
        one = {"name": "r0", "deviceClassName": "nic"}
    found = refused(offered(snapshot(network("train", mode, one), policy("train")), ""))
    assert found.reason is Reason.MODE_NOT_SUPPORTED
    assert f"spec.mode: {mode} is not supported" in found.message
    assert "(supported: Macvlan, IPVLAN, " in found.message


@pytest.mark.parametrize(
    ("fabric", "problem"),
    [
        pytest.param(
            network("train", "Macvlan", rail("r0", "rdma/hca")), "needs master", id="accepted"
        ),
        pytest.param({"metadata": {"name": "train"}}, "spec: field required", id="readable"),
    ],
)
def test_a_network_that_is_not_accepted_refuses_the_pod(fabric: Object, problem: str) -> None:
    """Its own problem is the message."""
    found = refused(offered(snapshot({**fabric, "kind": "RDMANetwork"}, policy("train")), ""))
    assert found.reason is Reason.NETWORK_NOT_READY
    assert found.message.startswith("RDMANetwork train: ")
    assert problem in found.message


def test_the_hosts_network_is_granted_by_the_policy_alone() -> None:
    """A HostNetwork network without ``podLimits.hostNetwork`` makes the policy not ready."""
    found = refused(
        offered(
            snapshot(network("train", "HostNetwork", rail("r0", "rdma/hca")), policy("train")), ""
        )
    )
    assert found.reason is Reason.POLICY_NOT_READY
    assert "needs spec.podLimits.hostNetwork: true" in found.message


@pytest.mark.parametrize(
    ("grant", "partition", "problem"),
    [
        pytest.param(granted("train", 300), "main", "VLAN 300 is outside", id="above the range"),
        pytest.param(granted("train", 199), "main", "VLAN 199 is outside", id="below the range"),
        pytest.param(granted("train", 4095), "main", "VLAN 4095 is out of range", id="no VLAN"),
        pytest.param(
            {"name": "train", "partitions": [{"name": "blue"}]},
            "blue",
            "partitions[blue].number: no VLAN is set or allocated yet",
            id="none allocated yet",
        ),
        pytest.param(
            granted("train"), "", "partitions[main].number: no VLAN is set", id="none listed"
        ),
    ],
)
def test_a_number_that_cannot_be_used_makes_the_policy_not_ready(
    grant: Object, partition: str, problem: str
) -> None:
    """Whose number it is, and what is wrong with it."""
    found = refused(offered(snapshot(ROCE, NAD, policy(grant)), partition))
    assert found.reason is Reason.POLICY_NOT_READY
    assert found.message.startswith("RDMAPolicy team-a/default: spec.networks[train].partitions[")
    assert problem in found.message


def test_a_pkey_with_the_membership_bit_is_corrected() -> None:
    """The message says what to write."""
    fabric = network("train", "SRIOVInfiniBand", VF, partition={"type": "PKey"})
    found = refused(offered(snapshot(fabric, policy(granted("train", 0x8011)))))
    assert "0x8000 is the membership bit; write 0x0011" in found.message


def test_a_number_on_a_network_without_partitions_is_refused() -> None:
    """A number that nothing carries would be a promise that nobody keeps."""
    found = refused(
        offered(snapshot(network("train", "SRIOVEthernet", VF), policy(granted("train", 210))))
    )
    assert found.reason is Reason.POLICY_NOT_READY
    assert "[main].number: RDMANetwork train carries no partition" in found.message


def test_a_partition_without_a_number_is_ignored_where_nothing_carries_one() -> None:
    """The name alone does no harm."""
    grant = {"name": "train", "partitions": [{"name": "blue"}]}
    fabric = network("train", "DeviceOnly", VF)
    found = offered(snapshot(fabric, policy(grant)), "blue")
    assert isinstance(found, Offer)
    assert (found.partition, found.number) == ("", None)


OTHER = policy(granted("train", 210), namespace="team-b")
ACME = policy(granted("train", 210), tenant="acme")
ACME_TOO = policy(granted("train", 210), namespace="team-b", tenant="acme")


def claim(tenant: str, number: int = 210, fabric: str = "leaf", kind: str = "VLAN") -> Object:
    """An RDMAPartition."""
    return {
        "kind": "RDMAPartition",
        "metadata": {"name": f"{fabric}.{kind.lower()}.{number:04}"},
        "spec": {
            "fabric": fabric,
            "type": kind,
            "number": number,
            "tenant": tenant,
            "partition": "main",
        },
    }


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([TENANT, OTHER], id="two tenants name it"),
        pytest.param([ACME, OTHER], id="a tenant with a name and one without"),
        pytest.param([ACME, ACME_TOO, policy(granted("train", 210), namespace="c")], id="a third"),
        pytest.param([TENANT, claim("namespace/team-b")], id="another tenant holds it"),
        pytest.param([ACME, ACME_TOO, claim("namespace/team-a")], id="the namespace is not acme"),
        pytest.param(
            [
                TENANT,
                network(
                    "twin",
                    "Macvlan",
                    rail("r0", "rdma/hca", master="ens1.$(VLAN)"),
                    fabric="leaf",
                    partition={"type": "VLAN"},
                ),
                policy(granted("twin", 210), namespace="team-b"),
            ],
            id="another network of the same fabric",
        ),
    ],
)
def test_a_number_of_two_tenants_is_a_conflict(objects: list[Object]) -> None:
    """Neither gets it, and neither is told who the other is."""
    found = refused(offered(snapshot(ROCE, NAD, *objects)))
    assert found.reason is Reason.PARTITION_CONFLICT
    assert "VLAN 210 of fabric leaf belongs to another tenant too" in found.message
    assert "team-b" not in found.message


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([ACME, ACME_TOO], id="one tenant with two namespaces"),
        pytest.param([TENANT, claim("namespace/team-a")], id="the tenant holds it itself"),
        pytest.param([ACME, ACME_TOO, claim("acme")], id="held for both namespaces"),
        pytest.param([TENANT, OTHER, claim("namespace/team-a")], id="the holder wins"),
        pytest.param([TENANT, claim("x", 211)], id="another number is held"),
        pytest.param([TENANT, claim("x", fabric="spine")], id="held on another fabric"),
        pytest.param([TENANT, claim("x", kind="PKey")], id="held as a number of another kind"),
        pytest.param([TENANT, policy(granted("train", 211), namespace="team-b")], id="two numbers"),
        pytest.param(
            [
                TENANT,
                network("far", "SRIOVEthernet", VF, partition={"type": "VLAN"}),
                policy(granted("far", 210), namespace="team-b"),
            ],
            id="the same number on another fabric",
        ),
        pytest.param(
            [
                TENANT,
                network("ib", "SRIOVInfiniBand", VF, fabric="leaf", partition={"type": "PKey"}),
                policy(granted("ib", 210), namespace="team-b"),
            ],
            id="the same number as a PKey",
        ),
        pytest.param(
            [TENANT, network("none", "DeviceOnly", VF, fabric="leaf")],
            id="a network of the fabric without partitions",
        ),
    ],
)
def test_a_number_of_one_tenant_is_no_conflict(objects: list[Object]) -> None:
    """Numbers are unique within a fabric and a kind, and shared within a tenant."""
    assert isinstance(offered(snapshot(ROCE, NAD, *objects)), Offer)
