"""Which of a network's resources no node advertises, where the nodes are known.

For people who wait for a pod that no node can take. Decisions about pods never depend on it:
nodes come and go, and the scheduler knows them better.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.index import EMPTY_SHARD, Index, Network
from policies.network import Mode, RDMANetwork

CONDITION: Final = "ResourcesAdvertised"
"""Type of the condition by which the leader says it in a network's status."""


def is_said_missing(raw: Mapping[str, Any]) -> bool:
    """Whether a network's status says that no node advertises a resource of its rails.

    Args:
        raw: The RDMANetwork as the API serves it. What is odd, or was said of an earlier
            generation, says nothing.
    """
    metadata, status = raw.get("metadata"), raw.get("status")
    if not isinstance(metadata, Mapping) or not isinstance(status, Mapping):
        return False
    generation, conditions = metadata.get("generation"), status.get("conditions")
    return isinstance(generation, int) and any(
        isinstance(one, Mapping)
        and (one.get("type"), one.get("status")) == (CONDITION, "False")
        and one.get("observedGeneration") == generation
        for one in (conditions if isinstance(conditions, list) else ())
    )


def missing_resources(index: Index, network: Network) -> tuple[str, ...] | None:
    """Return the resources of a network's rails that no node advertises, in order of rails.

    Args:
        index: What is known.
        network: Of the index.

    Returns:
        None where nothing is known of nodes: replicas in a cluster do not watch them.
    """
    if not index.nodes:
        return None
    return tuple(
        name
        for name in resources(index, network)
        if not any(name in advertised for advertised in index.nodes.values())
    )


def resources(index: Index, network: Network) -> tuple[str, ...]:
    """Return the resources of a network's rails, each once, in order of rails.

    Args:
        index: What is known.
        network: Of the index. A rail without a resource counts with that of the NAD that it names
            by namespace and name; devices of mode DRA are not in a node's resources.
    """
    model = network.model
    if model is None or model.spec.mode is Mode.DRA:
        return ()
    return tuple(dict.fromkeys(_resources(index, model)))


def _resources(index: Index, model: RDMANetwork) -> Iterator[str]:
    for rail in model.spec.rails:
        place = rail.network_attachment
        if rail.resource_name:
            yield rail.resource_name
        elif place is not None and place.namespace:
            found = index.shards.get(place.namespace, EMPTY_SHARD).nads.get(place.name)
            if found is not None and found.resource_name:
                yield found.resource_name
