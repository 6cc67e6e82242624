"""Networks, policies and NADs for tests, and the small cluster that most tests of pods share.

Namespace ``team-a`` may use every network of the cluster, ``team-b`` none of them by name; a
namespace of another name has no policy.
"""

import json
from collections.abc import Iterable
from typing import Any

from policies.changes import Gone, Put
from policies.rules import Rules
from policies.snapshot import Snapshot

Object = dict[str, Any]

RULES = Rules(version="0.0.0")
RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"


def network(name: str, mode: str, *rails: Object, **spec: Any) -> Object:  # noqa: ANN401
    """Return an RDMANetwork."""
    return {
        "kind": "RDMANetwork",
        "metadata": {"name": name},
        "spec": {"mode": mode, "rails": list(rails), **spec},
    }


def rail(name: str, resource: str, **fields: Any) -> Object:  # noqa: ANN401 any field of a rail
    """Return a rail."""
    return {"name": name, "resourceName": resource, **fields}


def policy(
    *grants: str | Object,
    namespace: str = "team-a",
    enforcement: str = "Enforce",
    **spec: Any,  # noqa: ANN401 any field of the policy's spec
) -> Object:
    """Return an RDMAPolicy; a grant may be the bare name of a network."""
    networks = [{"name": one} if isinstance(one, str) else one for one in grants]
    return {
        "kind": "RDMAPolicy",
        "metadata": {"name": "default", "namespace": namespace, "generation": 7},
        "spec": {"enforcement": enforcement, "networks": networks, **spec},
    }


def granted(name: str, number: int | None = None, **fields: Any) -> Object:  # noqa: ANN401
    """Return a grant of a network, with the number of its main partition."""
    partitions = [] if number is None else [{"name": "main", "number": number}]
    return {"name": name, "partitions": partitions, **fields}


def nad(name: str, resource: str = "", namespace: str = "team-a", **config: Any) -> Object:  # noqa: ANN401
    """Return a NetworkAttachmentDefinition."""
    return {
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {RESOURCE_NAME: resource} if resource else {},
        },
        "spec": {"config": json.dumps({"cniVersion": "0.3.1", "name": name, **config})},
    }


def claim(name: str, tenant: str, number: int = 210) -> Object:
    """Return an RDMAPartition: a VLAN of fabric ``leaf``."""
    spec = {
        "fabric": "leaf",
        "type": "VLAN",
        "number": number,
        "tenant": tenant,
        "partition": "main",
    }
    return {"kind": "RDMAPartition", "metadata": {"name": name}, "spec": spec}


def labelled(namespace: str, **labels: str) -> Object:
    """Return a Namespace with a Pod Security level: ``enforce="baseline"``."""
    found = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
    return {"kind": "Namespace", "metadata": {"name": namespace, "labels": found}}


NETWORKS = (
    network(
        "roce",
        "SRIOVEthernet",
        rail("r0", "nvidia.com/roce_r0"),
        rail("r1", "nvidia.com/roce_r1"),
        partition={"type": "VLAN", "min": 200, "max": 299},
    ),
    network(
        "ib",
        "SRIOVInfiniBand",
        rail("r0", "nvidia.com/ib_r0"),
        partition={"type": "PKey"},
        podDefaults={"env": [{"name": "NCCL_IB_SL", "value": "1"}]},
    ),
    network("ib-b", "SRIOVInfiniBand", rail("r0", "nvidia.com/ib_r0"), partition={"type": "PKey"}),
    network(
        "shared",
        "Macvlan",
        rail("r0", "rdma/hca", master="ens1f0np0.$(VLAN)"),
        rail("r1", "rdma/hca", master="ens2f0np0.$(VLAN)"),
        partition={"type": "VLAN"},
    ),
    network("tokens", "DeviceOnly", rail("r0", "rdma/ib")),
    network("host", "HostNetwork", rail("r0", "rdma/host")),
    network(
        "pages",
        "DeviceOnly",
        rail("r0", "vpc.amazonaws.com/efa"),
        perAccelerator=4,
        podDefaults={
            "hugepages": {"hugepages-2Mi": "5120Mi"},
            "nodeSelector": {"node.example/efa": "true"},
            "tolerations": [{"key": "vpc.amazonaws.com/efa", "operator": "Exists"}],
            "env": [{"name": "FI_PROVIDER", "value": "efa"}],
        },
    ),
)
"""One network for each way of joining a fabric, and a second one on the devices of another."""

NADS = (
    nad("rdma-roce-r0-v0210", "nvidia.com/roce_r0", type="sriov", vlan=210, spoofchk="on"),
    nad("rdma-roce-r1-v0210", "nvidia.com/roce_r1", type="sriov", vlan=210, spoofchk="on"),
    nad("rdma-ib-r0-p0011", "nvidia.com/ib_r0", type="ib-sriov", pkey="0x0011"),
    nad("rdma-ib-b-r0-p0022", "nvidia.com/ib_r0", type="ib-sriov", pkey="0x0022"),
    nad("rdma-shared-r0-v0210", type="macvlan", master="ens1f0np0.210"),
    nad("rdma-shared-r1-v0210", type="macvlan", master="ens2f0np0.210"),
    nad("storage", type="macvlan", master="eno1"),
    nad("rival", "nvidia.com/roce_r0", namespace="team-b", type="sriov", vlan=220),
)
"""The attachments of team-a, a storage network that is none of our business, and a foreign one."""

GRANTS = (
    granted("roce", 210),
    granted("ib", 0x0011, maxPerPod=2),
    granted("ib-b", 0x0022, maxPerPod=1),
    granted("shared", 210),
    granted("tokens", maxPerPod=8),
    granted("host"),
    granted("pages"),
)


def snapshot(*objects: Object, rules: Rules = RULES) -> Snapshot:
    """Return a snapshot of some objects and nothing else."""
    return Snapshot.empty(rules).apply([Put(one["kind"], one) for one in objects])


def cluster(
    *objects: Object,
    without: Iterable[tuple[str, str, str]] = (),
    rules: Rules = RULES,
    **spec: Any,  # noqa: ANN401 any field of the policy's spec
) -> Snapshot:
    """Return the small cluster.

    Args:
        objects: Further ones, or others in place of its own.
        without: Kind, namespace and name of what is taken away.
        rules: The settings.
        spec: Fields of team-a's policy that differ; ``enforcement`` is Enforce.
    """
    limits = {"hostNetwork": True, **spec.pop("podLimits", {})}
    whole = policy(*spec.pop("grants", GRANTS), podLimits=limits, **spec)
    base = snapshot(*NETWORKS, *NADS, whole, *objects, rules=rules)
    return base.apply([Gone(*place) for place in without])
