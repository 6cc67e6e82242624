"""The text of the status annotation: what shaped a pod. For people; no check reads it."""

import json
from typing import Any

from policies.intent import Attachment, Equipped


def stamp(
    *,
    networks: tuple[str, ...],
    attachments: tuple[Attachment, ...],
    equipped: tuple[Equipped, ...],
    partition: str,
    generation: int,
    version: str,
) -> str:
    """Return compact JSON: networks, interfaces, resources, partition, generation, version.

    Keys that would say nothing are left out; resources are whole numbers for the whole pod.
    """
    resources: dict[str, int] = {}
    for one in equipped:
        for name, number in one.resources:
            resources[name] = resources.get(name, 0) + number
    found: dict[str, Any] = {"networks": networks}
    interfaces = [one.interface for one in attachments if one.interface]
    if interfaces:
        found["interfaces"] = interfaces
    if resources:
        found["resources"] = resources
    if partition:
        found["partition"] = partition
    return json.dumps(
        {**found, "policyGeneration": generation, "version": version}, separators=(",", ":")
    )
