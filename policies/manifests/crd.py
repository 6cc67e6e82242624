"""Our kinds as CustomResourceDefinition documents, made from the models that read them.

Knows what ``kubectl`` shows of a kind: names, columns, scope. Shapes come from the models
(``structural.py``), rules from ``validations.py``; how a document is written to a file is not known
here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from policies.accept import RENDERED_KEYS
from policies.manifests.network_validations import network_rules
from policies.manifests.structural import Schema, structural
from policies.manifests.validations import ITEMS, Rule, partition_rules, policy_rules
from policies.names import API_VERSION, GROUP, NETWORK, PARTITION, PLURALS, POLICY
from policies.network import NetworkSpec, RDMANetwork
from policies.partition import PartitionSpec, RDMAPartition
from policies.policy import PolicySpec, RDMAPolicy
from policies.status import NetworkStatus, PartitionStatus, PolicyStatus

CATEGORY = "rdma"
"""``kubectl get rdma`` lists all our kinds."""
VALIDATIONS = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of ``kubectl get``."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0
    """0 is always shown, 1 with ``-o wide``."""

    def as_document(self) -> dict[str, Any]:
        """Return the column as it stands in the CRD."""
        wide = {"priority": self.priority} if self.priority else {}
        return {"name": self.name, "jsonPath": self.path, "type": self.type, **wide}


AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of ours, as a CRD describes it."""

    name: str
    plural: str
    short: str
    scope: str
    model: type[BaseModel]
    spec: type[BaseModel]
    status: type[BaseModel]
    rules: Callable[[], Iterable[Rule]]
    columns: tuple[Column, ...]


def _condition(name: str) -> str:
    """Return the JSON path of a condition's status."""
    return f'.status.conditions[?(@.type=="{name}")].status'


KINDS = (
    Kind(
        name=NETWORK,
        plural=PLURALS[NETWORK],
        short="rdmanet",
        scope="Cluster",
        model=RDMANetwork,
        spec=NetworkSpec,
        status=NetworkStatus,
        rules=network_rules,
        columns=(
            Column("Mode", ".spec.mode"),
            Column("Fabric", ".spec.fabric"),
            Column("Partition", ".spec.partition.type"),
            Column("Min", ".spec.partition.min", "integer", priority=1),
            Column("Max", ".spec.partition.max", "integer", priority=1),
            Column("Isolation", ".status.isolation"),
            Column("Accepted", _condition("Accepted")),
            AGE,
        ),
    ),
    Kind(
        name=PARTITION,
        plural=PLURALS[PARTITION],
        short="rdmapart",
        scope="Cluster",
        model=RDMAPartition,
        spec=PartitionSpec,
        status=PartitionStatus,
        rules=partition_rules,
        columns=(
            Column("Fabric", ".spec.fabric"),
            Column("Type", ".spec.type"),
            Column("Number", ".spec.number", "integer"),
            Column("Tenant", ".spec.tenant"),
            Column("Partition", ".spec.partition"),
            Column("Phase", ".status.phase"),
            AGE,
        ),
    ),
    Kind(
        name=POLICY,
        plural=PLURALS[POLICY],
        short="rdmapol",
        scope="Namespaced",
        model=RDMAPolicy,
        spec=PolicySpec,
        status=PolicyStatus,
        rules=policy_rules,
        columns=(
            Column("Tenant", ".spec.tenant"),
            Column("Enforcement", ".spec.enforcement"),
            Column("Default", ".spec.defaultNetwork"),
            Column("Ready", _condition("Ready")),
            AGE,
        ),
    ),
)
"""Our kinds, in order of their plurals."""


def documents() -> dict[str, dict[str, Any]]:
    """Return every CRD by its name, in order of the names."""
    return {f"{kind.plural}.{GROUP}": _document(kind) for kind in KINDS}


def _document(kind: Kind) -> dict[str, Any]:
    version = {
        "name": API_VERSION.rpartition("/")[2],
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [column.as_document() for column in kind.columns],
        "schema": {"openAPIV3Schema": _schema(kind)},
    }
    names = {
        "kind": kind.name,
        "listKind": f"{kind.name}List",
        "plural": kind.plural,
        "singular": kind.name.lower(),
        "shortNames": [kind.short],
        "categories": [CATEGORY],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": kind.scope, "names": names, "versions": [version]},
    }


def _schema(kind: Kind) -> Schema:
    """Return a kind's whole schema, with the rules at their places."""
    root: Schema = {
        "type": "object",
        "description": kind.model.__doc__,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string", "description": f"{API_VERSION}."},
            "kind": {"type": "string", "description": f"{kind.name}."},
            "metadata": {"type": "object"},
            "spec": structural(kind.spec),
            "status": structural(kind.status),
        },
    }
    if kind.name == NETWORK:
        root["properties"]["spec"]["properties"]["template"]["properties"] = _forbidden_keys()
    for rule in kind.rules():
        _node_at(root, rule.at).setdefault(VALIDATIONS, []).append(rule.as_validation())
    return root


def _forbidden_keys() -> dict[str, Schema]:
    """Return the template's forbidden keys as properties, since a rule sees only what is declared.

    Numbers and texts are let in, so that the rule's message is seen and not a message on types.
    """
    description = "Not allowed: mode, rail and partition decide it."
    scalar: Schema = {"x-kubernetes-int-or-string": True, "maxLength": 4096}
    chain: Schema = {
        "type": "array",
        "maxItems": 64,
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "x-kubernetes-list-type": "atomic",
    }
    return {
        key: {"description": description, **(chain if key == "plugins" else scalar)}
        for key in RENDERED_KEYS
    }


def _node_at(root: Schema, path: str) -> Schema:
    """Return the node of a schema at a path such as ``spec.rails.[]``."""
    node = root
    for step in path.split(".") if path else ():
        node = node["items"] if step == ITEMS else node["properties"][step]
    return node
