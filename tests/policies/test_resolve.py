"""What one pod shall receive: attachments, resources, and everything two injectors share."""

import json
from typing import Any

import pytest

from policies.intent import Intent
from policies.refusal import Reason, Refusal
from policies.resolve import resolve
from policies.select import Applicable, select
from policies.snapshot import Snapshot
from policies.subject import Subject
from tests.harness.cluster import RULES, granted, nad, network, policy, rail, snapshot
from tests.harness.subjects import container, init, selected, subject

Object = dict[str, Any]

NETWORKS = (
    network(
        "vf",
        "SRIOVEthernet",
        rail("r0", "nvidia.com/r0"),
        rail("r1", "nvidia.com/r1"),
        partition={"type": "VLAN"},
        podDefaults={"env": [{"name": "WHO", "value": "vf"}], "sharedMemory": "4Gi"},
    ),
    network("ib", "SRIOVInfiniBand", rail("r0", "nvidia.com/ib"), partition={"type": "PKey"}),
    network(
        "mv",
        "Macvlan",
        rail("r0", "rdma/hca", master="ens1"),
        rail("r1", "rdma/hca", master="ens2"),
        rail("r2", "rdma/hca2", master="ens3"),
    ),
    network("gpu", "SRIOVEthernet", rail("r0", "nvidia.com/r0"), perAccelerator=2),
    network(
        "devices",
        "DeviceOnly",
        rail("r0", "rdma/ib"),
        rail("r1", "rdma/ib"),
        podDefaults={
            "env": [{"name": "WHO", "value": "devices"}],
            "sharedMemory": "6Gi",
            "hugepages": {"hugepages-2Mi": "1Gi"},
            "nodeSelector": {"rdma": "yes"},
            "tolerations": [{"key": "rdma", "operator": "Exists"}],
            "capabilities": {"drop": ["NET_RAW"]},
        },
    ),
    network("host", "HostNetwork", rail("r0", "rdma/host"), count=3),
)
NADS = (
    nad("rdma-vf-r0-v0210", "nvidia.com/r0", type="sriov", vlan=210),
    nad("rdma-vf-r1-v0210", "nvidia.com/r1", type="sriov", vlan=210),
    nad(
        "rdma-ib-r0-p0011",
        "nvidia.com/ib",
        type="ib-sriov",
        pkey="0x0011",
        ibKubernetesEnabled=True,
    ),
    nad("rdma-mv-r0-none", type="macvlan", master="ens1"),
    nad("rdma-mv-r1-none", type="macvlan", master="ens2"),
    nad("rdma-mv-r2-none", type="macvlan", master="ens3", ipam={"type": "host-local"}),
    nad("rdma-gpu-r0-none", "nvidia.com/r0", type="sriov"),
    nad("storage", "intel.com/storage", type="sriov"),
)
LIMITS = {"hostNetwork": True, "requiredDrop": ["NET_ADMIN"], "env": [{"name": "F", "value": "1"}]}
TENANT = policy(
    granted("vf", 210),
    granted("ib", 0x11),
    "mv",
    "gpu",
    "devices",
    "host",
    podLimits=LIMITS,
)
CLUSTER = snapshot(*NETWORKS, *NADS, TENANT)


def resolved(one: Subject, found: Snapshot = CLUSTER) -> Intent | Refusal:
    """What is decided about a pod."""
    applicable = select(one, found)
    assert isinstance(applicable, Applicable), applicable
    return resolve(applicable, found)


def intent(one: Subject, found: Snapshot = CLUSTER) -> Intent:
    """The decision, which has to be a yes."""
    answer = resolved(one, found)
    assert isinstance(answer, Intent), answer
    return answer


def refused(one: Subject, found: Snapshot = CLUSTER) -> Refusal:
    """The decision, which has to be a no."""
    answer = resolved(one, found)
    assert isinstance(answer, Refusal)
    return answer


def needs(found: Intent) -> dict[str, dict[str, int]]:
    """The resources of every container that takes part."""
    return {one.name: dict(one.resources) for one in found.equipped}


GPU = container("gpu", gpus=2)


@pytest.mark.parametrize(
    ("one", "resources", "rails"),
    [
        pytest.param(
            subject("vf"),
            {"main": {"nvidia.com/r0": 1, "nvidia.com/r1": 1}},
            ["r0", "r1"],
            id="one VF a rail",
        ),
        pytest.param(
            subject("vf:5"),
            {"main": {"nvidia.com/r0": 3, "nvidia.com/r1": 2}},
            ["r0", "r1", "r0", "r1", "r0"],
            id="VFs dealt round and round",
        ),
        pytest.param(
            subject("gpu", GPU), {"gpu": {"nvidia.com/r0": 4}}, ["r0"] * 4, id="two VFs a GPU"
        ),
        pytest.param(
            subject("mv", GPU, container("second", gpus=1)),
            {"gpu": {"rdma/hca": 1, "rdma/hca2": 1}, "second": {"rdma/hca": 1, "rdma/hca2": 1}},
            ["r0", "r1", "r2"],
            id="one token for each pool, in each container",
        ),
        pytest.param(
            subject("mv:2"), {"main": {"rdma/hca": 1}}, ["r0", "r1"], id="the first two rails"
        ),
        pytest.param(subject("devices:3"), {"main": {"rdma/ib": 3}}, [], id="as many tokens"),
        pytest.param(subject("devices"), {"main": {"rdma/ib": 2}}, [], id="a token for each rail"),
        pytest.param(subject("host"), {"main": {"rdma/host": 3}}, [], id="the host's network"),
        pytest.param(
            subject("vf:1,gpu:2"), {"main": {"nvidia.com/r0": 3}}, ["r0"] * 3, id="one pool of two"
        ),
        pytest.param(
            subject("mv:1,devices:4"), {"main": {"rdma/hca": 1, "rdma/ib": 4}}, ["r0"], id="two"
        ),
    ],
)
def test_resources_are_those_of_the_mode(
    one: Subject, resources: dict[str, dict[str, int]], rails: list[str]
) -> None:
    """A device for each attachment, or a token for each pool, or the token count."""
    found = intent(one)
    assert needs(found) == resources
    assert [attachment.rail for attachment in found.attachments] == rails


def test_everything_that_a_pod_gets_is_in_one_value() -> None:
    """Networks, attachments, capabilities, memory, environment, placement and the stamp."""
    found = intent(subject("vf,devices"))
    assert found.networks == ("vf", "devices")
    assert [one.interface for one in found.attachments] == ["rdma0", "rdma1"]
    assert [one.name for one in found.attachments] == ["rdma-vf-r0-v0210", "rdma-vf-r1-v0210"]
    assert found.add_capabilities == ("IPC_LOCK",)
    assert found.drop_capabilities == ("NET_RAW", "NET_ADMIN")
    assert (found.shared_memory, found.env, found.forced_env) == (
        "6Gi",
        (("WHO", "vf"),),
        (("F", "1"),),
    )
    assert found.hugepages == (("hugepages-2Mi", "1Gi"),)
    assert found.node_selector == (("rdma", "yes"),)
    assert found.tolerations == ({"key": "rdma", "operator": "Exists"},)
    assert (found.partition, found.policy, found.generation) == ("main", "team-a/default", 7)
    assert not found.host_network
    assert json.loads(found.status) == {
        "networks": ["vf", "devices"],
        "interfaces": ["rdma0", "rdma1"],
        "resources": {"nvidia.com/r0": 1, "nvidia.com/r1": 1, "rdma/ib": 2},
        "partition": "main",
        "policyGeneration": 7,
        "version": RULES.version,
    }


@pytest.mark.parametrize(
    ("text", "host", "shares", "has_vfs"),
    [
        ("vf", False, False, True),
        ("mv", False, True, False),
        ("host", True, True, False),
        ("devices", False, False, False),
        ("vf,mv", False, True, True),
    ],
)
def test_what_modes_mean_for_the_pod_is_said(
    text: str, *, host: bool, shares: bool, has_vfs: bool
) -> None:
    """The host's network, a shared HCA, devices whose names come at run time."""
    found = intent(subject(text))
    assert (found.host_network, found.shares_hca, found.has_vfs) == (host, shares, has_vfs)


@pytest.mark.parametrize(
    ("one", "reason", "problem"),
    [
        pytest.param(
            subject("vf", is_windows=True),
            Reason.WINDOWS_POD,
            "spec.os.name: windows",
            id="a Windows pod",
        ),
        pytest.param(
            subject("vf", host_network=True),
            Reason.HOST_NETWORK_CONFLICT,
            "network vf (mode SRIOVEthernet) needs a pod network of its own, which "
            "spec.hostNetwork: true takes away",
            id="a pod on the host's network",
        ),
        pytest.param(
            subject("host,mv"),
            Reason.HOST_NETWORK_CONFLICT,
            "network mv (mode Macvlan) needs a pod network of its own, which network host takes",
            id="two networks that exclude each other",
        ),
        pytest.param(
            subject("vf", container("a", gpus=1), container("b", gpus=1)),
            Reason.CONTAINERS_AMBIGUOUS,
            "a, b would share",
            id="containers that cannot be chosen",
        ),
        pytest.param(
            subject("gpu"), Reason.ACCELERATOR_MISSING, "asks for none", id="a count without GPU"
        ),
        pytest.param(
            subject("devices", node_selector=(("rdma", "no"),)),
            Reason.PLACEMENT_CONFLICT,
            'is "no"',
            id="a label that no node has",
        ),
    ],
)
def test_a_pod_that_does_not_fit_its_networks_is_refused(
    one: Subject, reason: Reason, problem: str
) -> None:
    """What no policy could allow."""
    found = refused(one)
    assert found.reason is reason
    assert problem in found.message


@pytest.mark.parametrize("text", ["host", "devices", "host,devices"])
def test_a_pod_on_the_hosts_network_can_have_devices(text: str) -> None:
    """Only modes with selections need a pod network."""
    found = intent(subject(text, host_network=True))
    assert found.attachments == ()


@pytest.mark.parametrize(
    ("most", "one", "passes"),
    [
        pytest.param(2, subject("vf"), True, id="attachments at the limit"),
        pytest.param(1, subject("vf"), False, id="attachments above it"),
        pytest.param(3, subject("mv", GPU, container("b", gpus=1)), True, id="rails, not tokens"),
        pytest.param(4, subject("devices:2", GPU, container("b", gpus=1)), True, id="all tokens"),
        pytest.param(3, subject("devices:2", GPU, container("b", gpus=1)), False, id="above"),
    ],
)
def test_the_limit_counts_the_whole_pod(most: int, one: Subject, *, passes: bool) -> None:
    """Attachments of the pod, or the tokens of all its containers together."""
    grants = [{**granted("vf", 210), "maxPerPod": most}, {"name": "mv", "maxPerPod": most}]
    tenant = policy(*grants, {"name": "devices", "maxPerPod": most})
    answer = resolved(one, snapshot(*NETWORKS, *NADS, tenant))
    if passes:
        assert isinstance(answer, Intent)
    else:
        assert isinstance(answer, Refusal)
        assert answer.reason is Reason.ATTACHMENTS_OVER_LIMIT


def test_what_the_author_selected_is_the_attachment() -> None:
    """It is kept with its interface, and only what is missing is added."""
    own = selected("rdma-vf-r1-v0210", "ib7")
    found = intent(subject("vf", selections=(own, selected("storage", "rdma0"))))
    assert [(one.name, one.interface, one.selected) for one in found.attachments] == [
        ("rdma-vf-r0-v0210", "rdma1", False),
        ("rdma-vf-r1-v0210", "ib7", True),
    ]
    assert needs(found) == {"main": {"nvidia.com/r0": 1, "nvidia.com/r1": 1}}


def test_an_element_beyond_the_count_takes_a_device_too() -> None:
    """Multus hands devices out by element, so the container needs one for each."""
    own = tuple(selected("rdma-vf-r0-v0210", f"ib{n}") for n in range(3))
    others = (selected("storage"), selected("absent"))
    found = intent(subject("vf:1", selections=(*own, *others)))
    assert len(found.attachments) == 1
    assert needs(found) == {"main": {"nvidia.com/r0": 3}}


def test_only_the_equipped_containers_get_devices() -> None:
    """A further accelerator container shares memory and environment, and is told so."""
    asks = container("asks", {"rdma/ib": 2})
    setup = init("setup")
    found = intent(subject("devices", setup, GPU, asks))
    assert [(one.name, one.place, one.has_devices) for one in found.equipped] == [
        ("gpu", ("containers", 0), False),
        ("asks", ("containers", 1), True),
    ]
    assert needs(found) == {"gpu": {}, "asks": {"rdma/ib": 2}}
    assert "container gpu has no RDMA device, memory and env only" in [
        one.text for one in found.notices
    ]


def test_a_companion_of_one_network_may_be_equipped_by_another() -> None:
    """Devices go before company, whatever the order of the networks."""
    asks = container("asks", {"rdma/ib": 2})
    for text in ("devices,host", "host,devices"):
        found = intent(subject(text, GPU, asks))
        assert {one.name: one.has_devices for one in found.equipped} == {"gpu": True, "asks": True}


@pytest.mark.parametrize(
    ("one", "by_file"),
    [
        pytest.param(subject("devices"), False, id="a plain container"),
        pytest.param(subject("devices", container(has_env_from=True)), True, id="envFrom"),
        pytest.param(subject("devices", is_mpi_worker=True), True, id="an MPI worker"),
    ],
)
def test_defaults_go_into_a_file_where_env_would_override_its_source(
    one: Subject, *, by_file: bool
) -> None:
    """``env`` goes before ``envFrom``, and sshd hands no environment on."""
    assert [one.env_by_file for one in intent(one).equipped] == [by_file]


@pytest.mark.parametrize(
    ("one", "partition"),
    [
        (subject("devices"), ""),
        (subject("vf"), "main"),
        (subject("vf,ib"), "main"),
        (subject("vf,ib", annotations={"rdma.io/partition": "vf=blue,ib=main"}), "vf=blue,ib=main"),
    ],
)
def test_the_partition_is_one_name_or_one_for_each_network(one: Subject, partition: str) -> None:
    """Short where all are the same."""
    blue = [{"name": "main", "number": 210}, {"name": "blue", "number": 220}]
    more = [
        nad(f"rdma-vf-r{n}-v0220", f"nvidia.com/r{n}", type="sriov", vlan=220) for n in range(2)
    ]
    tenant = policy({"name": "vf", "partitions": blue}, granted("ib", 0x11), "devices")
    assert intent(one, snapshot(*NETWORKS, *NADS, *more, tenant)).partition == partition


@pytest.mark.parametrize(
    ("one", "texts"),
    [
        pytest.param(subject("vf"), [], id="nothing to say"),
        pytest.param(
            subject("vf,ib"),
            ["vf and ib mix InfiniBand and Ethernet; NCCL uses one link layer"],
            id="two link layers",
        ),
        pytest.param(
            subject("mv"),
            [
                (
                    "NAD team-a/rdma-mv-r2-none uses host-local IPAM: pods on two nodes get the "
                    "same address"
                )
            ],
            id="addresses that meet",
        ),
        pytest.param(
            subject("vf", container(), container("istio-proxy", is_proxy=True)),
            ["mesh sidecar istio-proxy intercepts the TCP bootstrap traffic of RDMA jobs"],
            id="a mesh",
        ),
        pytest.param(
            subject("vf", runtime_class="kata-qemu"),
            ["runtimeClassName kata-qemu: RDMA and /dev/shm depend on the runtime"],
            id="a virtual machine",
        ),
        pytest.param(
            subject("vf", runtime_class="nvidia"), [], id="a runtime class without a machine"
        ),
        pytest.param(
            subject("vf", container(resources={"rdma/typo": 1, "rdma/zero": 0, "cpu/x": 1})),
            ["container main asks for rdma/typo, which belongs to no selected network"],
            id="a pool that nobody names",
        ),
        pytest.param(
            subject("vf", container(resources={"rdma/hca": 1})), [], id="another network's pool"
        ),
    ],
)
def test_what_the_author_should_know_is_noticed(one: Subject, texts: list[str]) -> None:
    """The pod is admitted; the notices say what may surprise."""
    assert [one.text for one in intent(one).notices] == texts


def node(name: str, **allocatable: str) -> Object:
    """Return a node; dashes stand for what a keyword cannot hold."""
    resources = {f"rdma/{key}": number for key, number in allocatable.items()}
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": resources}}


def said(fabric: Object, status: str) -> Object:
    """Return a network whose status says whether nodes advertise it."""
    condition = {"type": "ResourcesAdvertised", "status": status, "observedGeneration": 1}
    metadata = {**fabric["metadata"], "generation": 1}
    return {**fabric, "metadata": metadata, "status": {"conditions": [condition]}}


TOKENS = network("tokens", "DeviceOnly", rail("r0", "rdma/ib"))
STAYS = "so the pod stays Pending"


@pytest.mark.parametrize(
    ("objects", "texts"),
    [
        pytest.param([TOKENS], [], id="nobody counted"),
        pytest.param([TOKENS, node("a", ib="4")], [], id="a node has some"),
        pytest.param(
            [TOKENS, node("a", other="4")],
            [f"network tokens: no node advertises rdma/ib, {STAYS}"],
            id="no node of the files has any",
        ),
        pytest.param([said(TOKENS, "True")], [], id="the leader saw some"),
        pytest.param(
            [said(TOKENS, "False")],
            [f"network tokens: no node advertises its devices, {STAYS}"],
            id="the leader saw none",
        ),
        pytest.param([said(TOKENS, "False"), node("a", ib="4")], [], id="files know better"),
    ],
)
def test_a_network_that_no_node_advertises_is_said(objects: list[Object], texts: list[str]) -> None:
    """The pod is admitted all the same: a node may come."""
    found = snapshot(*objects, policy("tokens"))
    assert [one.text for one in intent(subject("tokens"), found).notices] == texts


def test_eight_rails_are_eight_attachments_of_eight_pools() -> None:
    """Each rail has its own resource, so that Multus cannot cross them."""
    rails = [rail(f"r{n}", f"nvidia.com/rail{n}") for n in range(8)]
    nads = [
        nad(f"rdma-all-r{n}-v0310", f"nvidia.com/rail{n}", type="sriov", vlan=310) for n in range(8)
    ]
    fabric = network("all", "SRIOVEthernet", *rails, partition={"type": "VLAN"})
    found = intent(subject("all", GPU), snapshot(fabric, *nads, policy(granted("all", 310))))
    assert [one.interface for one in found.attachments] == [f"rdma{n}" for n in range(8)]
    assert [one.name for one in found.attachments] == [f"rdma-all-r{n}-v0310" for n in range(8)]
    assert needs(found) == {"gpu": {f"nvidia.com/rail{n}": 1 for n in range(8)}}


def test_a_pool_that_only_a_nad_names_is_no_strange_pool() -> None:
    """The resource of an admin's NAD is the network's."""
    fabric = network("own", "SRIOVEthernet", {"name": "r0", "networkAttachment": {"name": "mine"}})
    found = snapshot(fabric, nad("mine", "nvidia.com/mine", type="sriov"), policy("own"))
    one = subject("own", container(resources={"nvidia.com/mine": 1}))
    assert intent(one, found).notices == ()
    assert needs(intent(one, found)) == {"main": {"nvidia.com/mine": 1}}


def test_notices_of_the_policy_come_with_those_of_the_networks() -> None:
    """Nothing is lost on the way; the lower rank speaks first."""
    tenant = policy({"name": "mv", "maxPerPod": 1}, enforcement="Warn")
    found = intent(subject("mv"), snapshot(*NETWORKS, *NADS, tenant))
    assert [one.rank for one in found.notices] == [1, 6]


@pytest.mark.parametrize(
    ("one", "takes_part"),
    [
        pytest.param(subject("devices", is_mpi_launcher=True), False, id="a launcher"),
        pytest.param(
            subject("devices", container(gpus=1), is_mpi_launcher=True),
            True,
            id="one with accelerator",
        ),
        pytest.param(
            subject("devices", container(resources={"rdma/ib": 1}), is_mpi_launcher=True),
            True,
            id="one that asks for the devices itself",
        ),
        pytest.param(
            subject("devices", is_mpi_launcher=True, annotations={"rdma.io/containers": "main"}),
            True,
            id="one whose container is named",
        ),
        pytest.param(subject("devices", is_mpi_worker=True), True, id="a worker"),
    ],
)
def test_an_mpi_launcher_takes_no_part(one: Subject, *, takes_part: bool) -> None:
    """It only starts ranks elsewhere, unless its author or its requests say more."""
    found = intent(one)
    assert found.is_bystander is not takes_part
    if not takes_part:
        assert "MPI launcher without accelerator" in found.notices[0].text
        assert found.equipped == ()
