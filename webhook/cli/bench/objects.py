"""The cluster that benchmarks run on: two fabrics, any number of tenants, eight NADs each.

Makes objects as the API server lists them, one at a time, so that a large cluster needs no memory
beyond what is kept of it.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from policies import names
from policies.changes import Everything
from policies.rules import Rules
from policies.snapshot import Snapshot
from webhook.cli.bench.pods import NAMESPACE, NETWORK

FABRICS: Final = (NETWORK, "store-ib")
RAILS: Final = 4
NADS_PER_TENANT: Final = len(FABRICS) * RAILS
FIRST_NUMBER: Final = 16
"""Smallest PKey handed out; one a tenant, far below 0x7ffe."""

Object = dict[str, Any]


def snapshot(tenants: int) -> Snapshot:
    """Return the snapshot of a cluster with some tenants; the first is the pods' namespace."""
    return Snapshot.empty(Rules()).apply(
        [
            Everything(names.NETWORK, networks()),
            Everything(names.NAMESPACE, namespaces(tenants)),
            Everything(names.POLICY, policies(tenants)),
            Everything(names.NAD, attachments(tenants)),
        ]
    )


def networks() -> Iterator[Object]:
    """Yield the RDMANetworks."""
    for fabric in FABRICS:
        rails = [{"name": f"r{rail}", "resourceName": _resource(fabric, rail)} for rail in _RAILS]
        yield _object(
            names.API_VERSION,
            names.NETWORK,
            {"name": fabric},
            {
                "mode": "SRIOVInfiniBand",
                "partition": {"type": "PKey", "min": 1, "max": 0x7FFE},
                "rails": rails,
                "template": {"ipam": {"type": "whereabouts", "range": "10.40.0.0/16"}},
                "podDefaults": {
                    "capabilities": {"add": ["IPC_LOCK"]},
                    "sharedMemory": "32Gi",
                    "env": [{"name": "NCCL_SOCKET_IFNAME", "value": "=eth0"}],
                },
            },
        )


def namespaces(tenants: int) -> Iterator[Object]:
    """Yield the Namespaces."""
    for tenant in range(tenants):
        name = namespace(tenant)
        labels = {"kubernetes.io/metadata.name": name, names.POD_SECURITY_ENFORCE: "privileged"}
        yield _object("v1", names.NAMESPACE, {"name": name, "labels": labels}, {})


def policies(tenants: int) -> Iterator[Object]:
    """Yield the RDMAPolicies, a partition of its own for each."""
    for tenant in range(tenants):
        number = FIRST_NUMBER + tenant
        grants = [
            {"name": fabric, "quota": 64, "partitions": [{"name": "main", "number": number}]}
            for fabric in FABRICS
        ]
        yield _object(
            names.API_VERSION,
            names.POLICY,
            {"name": names.POLICY_NAME, "namespace": namespace(tenant), "generation": 1},
            {"enforcement": "Enforce", "networks": grants},
        )


def attachments(tenants: int) -> Iterator[Object]:
    """Yield the NetworkAttachmentDefinitions, one a tenant, network and rail."""
    for tenant in range(tenants):
        for fabric in FABRICS:
            for rail in _RAILS:
                yield _attachment(tenant, fabric, rail)


def namespace(tenant: int) -> str:
    """Return the name of a tenant's namespace."""
    return f"team-{tenant}" if tenant else NAMESPACE


_RAILS: Final = range(RAILS)


def _attachment(tenant: int, fabric: str, rail: int) -> Object:
    pkey = FIRST_NUMBER + tenant
    name = f"rdma-{fabric}-r{rail}-p{pkey:04x}"
    config = {
        "cniVersion": "0.3.1",
        "name": name,
        "type": "ib-sriov",
        "pkey": f"0x{pkey:04x}",
        "ibKubernetesEnabled": True,
        "ipam": {"type": "whereabouts", "range": "10.40.0.0/16"},
    }
    metadata = {
        "name": name,
        "namespace": namespace(tenant),
        "labels": {names.LABEL_RENDERED: fabric},
        "annotations": {names.RESOURCE_NAME_ANNOTATION: _resource(fabric, rail)},
    }
    return _object(names.NAD_API_VERSION, names.NAD, metadata, {"config": json.dumps(config)})


def _resource(fabric: str, rail: int) -> str:
    return f"nvidia.com/{fabric.replace('-', '_')}_r{rail}"


def _object(version: str, kind: str, metadata: Object, spec: Object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
