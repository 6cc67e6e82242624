"""Our kinds as ``kubectl`` shows them: names, scope, columns; and the models and rules of each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from policies.manifests.network_validations import network_rules
from policies.manifests.policy_validations import policy_rules
from policies.manifests.validations import Rule, partition_rules
from policies.names import NETWORK, PARTITION, PLURALS, POLICY
from policies.network import RDMANetwork
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy
from policies.status import NetworkStatus, PartitionStatus, PolicyStatus


@dataclass(frozen=True, slots=True)
class Column:
    """One column of ``kubectl get``.

    Attributes:
        name: Its heading.
        path: JSON path of what it shows.
        about: What it says, for tools that show it.
        type: ``string``, ``integer`` or ``date``.
        priority: 0 is always shown, 1 with ``-o wide``.
    """

    name: str
    path: str
    about: str
    type: str = "string"
    priority: int = 0

    def as_document(self) -> dict[str, Any]:
        """Return the column as it stands in the CRD."""
        wide = {"priority": self.priority} if self.priority else {}
        return {
            "name": self.name,
            "jsonPath": self.path,
            "type": self.type,
            "description": self.about,
            **wide,
        }


def _condition(name: str, about: str) -> Column:
    """Return the column of a condition's status, under its name."""
    return Column(name, f'.status.conditions[?(@.type=="{name}")].status', about)


def _reason(name: str) -> Column:
    """Return the wide column of why a condition is as it is."""
    path = f'.status.conditions[?(@.type=="{name}")].reason'
    return Column("Reason", path, f"Why {name} is so.", priority=1)


AGE = Column("Age", ".metadata.creationTimestamp", "How long ago it was created.", "date")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of ours, as a CRD describes it."""

    name: str
    plural: str
    short: str
    scope: str
    model: type[BaseModel]
    status: type[BaseModel]
    rules: Callable[[], Iterable[Rule]]
    columns: tuple[Column, ...]


KINDS = (
    Kind(
        name=NETWORK,
        plural=PLURALS[NETWORK],
        short="rdmanet",
        scope="Cluster",
        model=RDMANetwork,
        status=NetworkStatus,
        rules=network_rules,
        columns=(
            Column("Mode", ".spec.mode", "How a pod joins the fabric."),
            Column("Fabric", ".spec.fabric", "Where numbers are unique; empty: the name."),
            Column("Partition", ".spec.partition.type", "What separates tenants."),
            Column("Min", ".spec.partition.min", "Smallest number.", "integer", priority=1),
            Column("Max", ".spec.partition.max", "Largest number.", "integer", priority=1),
            Column("Isolation", ".status.isolation", "How far tenants are kept apart."),
            _condition("Accepted", "Whether the network can be used."),
            Column(
                "Advertised",
                '.status.conditions[?(@.type=="ResourcesAdvertised")].status',
                "Whether some node has its resources.",
            ),
            _reason("Accepted"),
            AGE,
        ),
    ),
    Kind(
        name=PARTITION,
        plural=PLURALS[PARTITION],
        short="rdmapart",
        scope="Cluster",
        model=RDMAPartition,
        status=PartitionStatus,
        rules=partition_rules,
        columns=(
            Column("Fabric", ".spec.fabric", "Where the number has one holder."),
            Column("Type", ".spec.type", "VLAN or PKey."),
            Column("Number", ".spec.number", "The number, decimal.", "integer"),
            Column("Tenant", ".spec.tenant", "Who holds it."),
            Column("Partition", ".spec.partition", "The tenant's name for it."),
            Column("Phase", ".status.phase", "Bound, or Draining before it is free."),
            Column(
                "Accepted",
                '.status.conditions[?(@.type=="Accepted")].status',
                "Whether the claim holds.",
                priority=1,
            ),
            _reason("Accepted"),
            AGE,
        ),
    ),
    Kind(
        name=POLICY,
        plural=PLURALS[POLICY],
        short="rdmapol",
        scope="Namespaced",
        model=RDMAPolicy,
        status=PolicyStatus,
        rules=policy_rules,
        columns=(
            Column("Tenant", ".spec.tenant", "Who shares its partitions; empty: the namespace."),
            Column("Enforcement", ".spec.enforcement", "What becomes of pods over their rights."),
            Column("Default", ".spec.defaultNetwork", "The network that default means."),
            _condition("Ready", "Whether pods are equipped."),
            Column("Networks", ".status.counts.networks", "Granted networks.", "integer", 1),
            Column("Partitions", ".status.counts.partitions", "Bound partitions.", "integer", 1),
            Column("Outdated", ".status.counts.outdatedPods", "Outdated pods.", "integer", 1),
            _reason("Ready"),
            AGE,
        ),
    ),
)
"""Our kinds, in order of their plurals."""
