"""Warnings where NUMA alignment of devices and CPUs cannot happen. Changes nothing."""

from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.quantity import whole
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.pod import Container, Pod


def inject(pod: Pod, intent: Intent) -> Iterator[Notice]:
    """Yield what stands in the way of alignment, for each container with devices."""
    for one in intent.equipped:
        if one.has_devices:
            yield from _unaligned(one, pods.container_at(pod, one.place), intent)


def _unaligned(one: Equipped, container: Container, intent: Intent) -> Iterator[Notice]:
    """Warn a container that pins CPUs for its accelerators where the kubelet cannot align them.

    Source: kubelet's static CPU manager pins whole CPUs of Guaranteed pods; the shared device
    plugin hands out tokens without a topology hint.
    """
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    cpu = limits.get("cpu", requests.get("cpu"))
    pools = {name for name, _ in one.resources}
    if cpu is None or not any("/" in name and name not in pools for name in limits):
        return
    if limits.get("cpu") != requests.get("cpu", limits.get("cpu")) or "memory" not in limits:
        problem = "is not Guaranteed (limits equal to requests for cpu and memory)"
    elif whole(str(cpu)) is None:
        problem = f"asks for {cpu} CPUs, no whole number"
    elif intent.shares_hca:
        problem = "gets a token without a topology hint"
    else:
        return
    yield Notice(f"no NUMA alignment: container {one.name} {problem}", 9)
