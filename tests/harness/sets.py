"""All that one tenant needs, as in one file: namespace, network, policy, attachments, Deployment.

Each set has a network of its own, so sets can be applied beside each other and in any order.
Nothing here asks a cluster.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import yaml

from policies.names import VERSION
from tests.harness import tenants
from tests.harness.calls import Document
from tests.harness.tenants import NETWORK

MODES = ("Macvlan", "IPVLAN", "SRIOVEthernet", "SRIOVInfiniBand")
PARTS = ("network", "policy", "attachments", "workload")
"""What a set has besides its namespace; a file may hold them in any order."""
RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"
MAIN = "main"
SHARED_MEMORY = "rdma-shm"
_COLLECTIONS = {
    "Namespace": "/api/v1/namespaces",
    "RDMANetwork": "/apis/rdma.io/v1alpha1/rdmanetworks",
    "RDMAPolicy": "/apis/rdma.io/v1alpha1/namespaces/{}/rdmapolicies",
    "NetworkAttachmentDefinition": (
        "/apis/k8s.cni.cncf.io/v1/namespaces/{}/network-attachment-definitions"
    ),
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
}


@dataclass(frozen=True, slots=True)
class TenantSet:
    """What one file holds.

    Attributes:
        name: Of namespace, network and workload.
        number: VLAN or PKey of the tenant.
        mode: One of :data:`MODES`.
        rails: How many the network has, so how many attachments a pod gets.
        replicas: Pods of the Deployment.
    """

    name: str
    number: int
    mode: str = "Macvlan"
    rails: int = 2
    replicas: int = 1

    @property
    def namespace(self) -> Document:
        """The namespace."""
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}}

    @property
    def network(self) -> Document:
        """A fabric of this set alone."""
        kind, most = ("PKey", 0x7FFE) if "Infini" in self.mode else ("VLAN", 4094)
        return {
            "apiVersion": "rdma.io/v1alpha1",
            "kind": "RDMANetwork",
            "metadata": {"name": self.name},
            "spec": {
                "mode": self.mode,
                "partition": {"type": kind, "min": 1, "max": most},
                "rails": [self._rail(index) for index in range(self.rails)],
            },
        }

    @property
    def policy(self) -> Document:
        """The grant of the network, with the number."""
        return self.policy_of(self.number)

    def policy_of(self, number: int) -> Document:
        """Return the policy with another number."""
        return tenants.policy(self.name, [tenants.grant(self.name, number)])

    @property
    def attachments(self) -> list[Document]:
        """One NAD a rail."""
        return self.attachments_of(self.number)

    def attachments_of(self, number: int) -> list[Document]:
        """Return the NADs of another number."""
        return [self._attachment(index, number) for index in range(self.rails)]

    @property
    def template(self) -> Document:
        """The pod of every workload: one annotation, one container."""
        body = tenants.pod("unnamed", {NETWORK: self.name})
        metadata = {"labels": {"app": self.name}, "annotations": body["metadata"]["annotations"]}
        return {"metadata": metadata, "spec": body["spec"]}

    @property
    def workload(self) -> Document:
        """A Deployment; its pods are replaced all at once, since no kubelet makes them ready."""
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": self.name, "namespace": self.name},
            "spec": {
                "replicas": self.replicas,
                "selector": {"matchLabels": {"app": self.name}},
                "strategy": {"type": "Recreate"},
                "template": self.template,
            },
        }

    def job(self, name: str, completions: int) -> Document:
        """Return a Job that runs as many pods at a time as the Deployment has."""
        template = self.template
        template["spec"]["restartPolicy"] = "Never"
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": self.name},
            "spec": {
                "parallelism": self.replicas,
                "completions": completions,
                "template": template,
            },
        }

    def objects(self, order: Iterable[str] = PARTS) -> list[Document]:
        """Return the objects without the namespace, in an order of :data:`PARTS`."""
        parts = [getattr(self, part) for part in order]
        return [one for part in parts for one in (part if isinstance(part, list) else [part])]

    def file(self, order: Iterable[str] = PARTS, *, namespace_first: bool = True) -> str:
        """Return the whole set as one YAML file."""
        objects = self.objects(order)
        objects.insert(0 if namespace_first else len(objects), self.namespace)
        return yaml.safe_dump_all(objects)

    def equipped(self, number: int | None = None, generation: int = 1) -> Document:
        """Return what :func:`tenants.essential` says of each of its pods."""
        suffix = self._suffix(number or self.number)
        amounts = {f"rdma/{self.name}-r{index}": "1" for index in range(self.rails)}
        interfaces = [f"rdma{index}" for index in range(self.rails)]
        return {
            "selections": [
                {
                    "name": f"rdma-{self.name}-r{index}-{suffix}",
                    "namespace": self.name,
                    "interface": interface,
                }
                for index, interface in enumerate(interfaces)
            ],
            "status": {
                "networks": [self.name],
                "interfaces": interfaces,
                "resources": dict.fromkeys(amounts, 1),
                "partition": MAIN,
                "policyGeneration": generation,
                "version": VERSION,
            },
            "volumes": [
                {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
            ],
            "containers": {
                MAIN: {
                    "resources": {"limits": amounts, "requests": amounts},
                    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
                    "mounts": {"/dev/shm": SHARED_MEMORY},  # noqa: S108 - a path in the container
                }
            },
        }

    # ---------------------------------------------------------------- insides

    def _suffix(self, number: int) -> str:
        return f"p{number:04x}" if "Infini" in self.mode else f"v{number:04d}"

    def _rail(self, index: int) -> Document:
        rail = {"name": f"r{index}", "resourceName": f"rdma/{self.name}-r{index}"}
        has_master = self.mode in {"Macvlan", "IPVLAN"}
        return {**rail, "master": f"ens{index}np0.$(VLAN)"} if has_master else rail

    def _attachment(self, index: int, number: int) -> Document:
        name = f"rdma-{self.name}-r{index}-{self._suffix(number)}"
        keys: dict[str, Document] = {
            "Macvlan": {"type": "macvlan", "master": f"ens{index}np0.{number}"},
            "IPVLAN": {"type": "ipvlan", "master": f"ens{index}np0.{number}"},
            "SRIOVEthernet": {"type": "sriov", "vlan": number, "spoofchk": "on", "trust": "off"},
            "SRIOVInfiniBand": {
                "type": "ib-sriov",
                "pkey": f"0x{number:04x}",
                "ibKubernetesEnabled": True,
            },
        }
        ipam = {"type": "whereabouts", "range": "10.40.0.0/16"}
        config = {"cniVersion": "0.3.1", "name": name, **keys[self.mode], "ipam": ipam}
        return {
            "apiVersion": "k8s.cni.cncf.io/v1",
            "kind": "NetworkAttachmentDefinition",
            "metadata": {
                "name": name,
                "namespace": self.name,
                "annotations": {RESOURCE_NAME: f"rdma/{self.name}-r{index}"},
            },
            "spec": {"config": json.dumps(config)},
        }


def collection(one: Document) -> str:
    """Return the API path where an object of a set is created."""
    return _COLLECTIONS[one["kind"]].format(one["metadata"].get("namespace", ""))
