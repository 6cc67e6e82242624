"""The cluster's objects at one moment, as they are kept: data, cut into shards by namespace.

An object that does not parse stays as its last good version and its reason. The maps that grow
with the cluster are persistent: another version of one shares all that did not change.
"""

from collections.abc import Mapping

import msgspec
from immutables import Map

from policies.claims import Claims, Holders
from policies.governance import Governance
from policies.nad import Nad
from policies.network import RDMANetwork
from policies.partition import RDMAPartition
from policies.rules import Rules
from policies.shapes import PartitionType
from policies.tenancy import Tenancy


class Network(msgspec.Struct, frozen=True):
    """One RDMANetwork: the last version that parsed, and why it cannot be used where it cannot."""

    name: str
    model: RDMANetwork | None
    problem: str = ""
    is_unadvertised: bool = False
    """Whether the leader wrote into its status that no node advertises a resource of its rails.

    A hint for warnings, as old as the leader's last look; no check reads it.
    """

    @property
    def fabric(self) -> str:
        """The fabric in which its partition numbers are unique."""
        return (self.model.spec.fabric if self.model else None) or self.name

    def carries(self, fabric: str, kind: PartitionType) -> bool:
        """Whether its tenants are kept apart by numbers of one kind on one fabric."""
        partition = self.model.spec.partition if self.model else None
        return self.fabric == fabric and partition is not None and partition.type is kind


class Shard(msgspec.Struct, frozen=True):
    """What one namespace holds."""

    tenancy: Tenancy | None = None
    policy_problem: str = ""
    nads: Mapping[str, Nad] = {}
    labels: Mapping[str, str] = {}


EMPTY_SHARD = Shard()
"""Of a namespace of which nothing is known."""


class Index(msgspec.Struct, frozen=True):
    """All objects that decisions may depend on, by what they are looked up by."""

    rules: Rules
    networks: Map[str, Network] = Map()
    shards: Map[str, Shard] = Map()
    partitions: Map[str, RDMAPartition] = Map()
    governance: Governance = Governance()
    claims: Claims = Map()
    holders: Holders = Map()
    nodes: Map[str, frozenset[str]] = Map()
    """Names of nodes, each with the governed resources of which it has some. Known of folders
    only: replicas in a cluster do not watch nodes."""
    faults: Map[tuple[str, str, str], str] = Map()
    """Kind, namespace and name of objects that do not parse or are not accepted, and why."""
