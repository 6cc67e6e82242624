"""Whether a network's ``template`` can be rendered: its keys, its variables, its size.

A template is free-form, so the API server's rules see only the keys that are declared; what is
below is judged here alone, and makes the network not Accepted.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from policies.network import NetworkSpec
from policies.refusal import quoted
from policies.shapes import PartitionType

RENDERED_KEYS: Mapping[str, str] = {
    "type": "spec.mode decides the CNI plugin",
    "name": "the name of a network attachment is made of network, rail and partition",
    "cniVersion": "the CNI version is that of the rendered configuration",
    "master": "write it as master of the rail",
    "vlan": "a VLAN comes from the tenant's partition",
    "pkey": "a PKey comes from the tenant's partition",
    "deviceID": "the device is the one that the kubelet hands out",
    "resourceName": "write it as resourceName of the rail",
    "plugins": "a template holds further keys of one plugin, not a chain",
}
"""Keys that a template may not hold, as CNI spells them, and why."""
MAX_BYTES = 16 * 1024
"""Largest template as JSON: a NAD is kept by every node's Multus, and copied for every tenant."""
MAX_DEPTH = 16
"""Deepest nesting of a template; IPAM configurations have three or four levels."""
VARIABLES: Mapping[str, PartitionType | None] = {
    "VLAN": PartitionType.VLAN,
    "PKEY": PartitionType.PKEY,
    "RAIL": None,
    "NAMESPACE": None,
}
"""What may stand in ``$(…)``, with the type of partition that it needs."""
_RENDERED_FOLDED = {key.casefold(): why for key, why in RENDERED_KEYS.items()}
_VARIABLE = re.compile(r"\$\(([^)]*)\)")


def problems(spec: NetworkSpec) -> Iterator[str]:
    """Yield why a network's template cannot be used, as path, problem and expectation."""
    template = spec.template or {}
    for key in template:
        why = _RENDERED_FOLDED.get(key.casefold())
        if why is not None:
            yield f"spec.template.{key}: {why}"
    texts = _texts(template)
    if texts is None:
        yield f"spec.template: is nested deeper than {MAX_DEPTH} levels"
        return
    try:
        size = len(msgspec.json.encode(template))
    except (TypeError, ValueError, OverflowError):
        yield "spec.template: holds what JSON cannot: want maps, lists, texts, numbers and booleans"
        return
    if size > MAX_BYTES:
        yield f"spec.template: is {size} bytes as JSON, want at most {MAX_BYTES}"
        return
    for text in texts:
        yield from _variable_problems(text, spec)


def _texts(template: Mapping[str, Any]) -> list[str] | None:
    """Return every text of a template, or None where it is nested too deep."""
    found: list[str] = []
    level: list[Any] = [template]
    for _ in range(MAX_DEPTH):
        found += [one for one in level if isinstance(one, str)]
        maps = [one for one in level if isinstance(one, Mapping)]
        lists = [one for one in level if isinstance(one, list)]
        level = [below for one in maps for below in one.values()]
        level += [below for one in lists for below in one]
        if not level:
            return found
    return None


def _variable_problems(text: str, spec: NetworkSpec) -> Iterator[str]:
    """Yield the ``$(…)`` of one text that have no value, or none on this network."""
    for name in _VARIABLE.findall(text):
        if name not in VARIABLES:
            known = " ".join(f"$({one})" for one in VARIABLES)
            yield f"spec.template: {quoted(f'$({name})')} is no variable; there are {known}"
            continue
        needed = VARIABLES[name]
        if needed is not None and (spec.partition is None or spec.partition.type is not needed):
            yield f"spec.template: $({name}) needs spec.partition of type {needed}"
