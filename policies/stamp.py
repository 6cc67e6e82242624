"""The text of the status annotation: what shaped a pod. For people; no check reads it."""

from typing import Any

import msgspec

from policies.intent import Intent


def stamp(intent: Intent, version: str) -> str:
    """Return compact JSON: networks, interfaces, resources, partition, generation, version.

    Keys that would say nothing are left out; resources are whole numbers for the whole pod.
    """
    resources: dict[str, int] = {}
    for one in intent.equipped:
        for name, number in one.resources:
            resources[name] = resources.get(name, 0) + number
    found: dict[str, Any] = {"networks": intent.networks}
    interfaces = [one.interface for one in intent.attachments if one.interface]
    if interfaces:
        found["interfaces"] = interfaces
    if resources:
        found["resources"] = resources
    if intent.partition:
        found["partition"] = intent.partition
    found |= {"policyGeneration": intent.generation, "version": version}
    return msgspec.json.encode(found).decode()
