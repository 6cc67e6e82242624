"""Whether a policy can be meant as it is written: the contradictions that one RDMAPolicy can hold.

The API server refuses all of them as they are written. A policy that is there all the same (in a
file, or stored before a rule was made) is not used where it has a `problem`; `flaws` leave the rest
of it usable, since it is plain what wins or which network is meant. What takes a second object (a
network that is not there) is not here.
"""

import re
from collections.abc import Iterator

from policies import accept_defaults
from policies.names import DEFAULT_NETWORK_WORD
from policies.partition import MAX_VLAN, number_problem
from policies.policy import NetworkGrant, PodLimits, PolicySpec
from policies.quantity import parse
from policies.shapes import MAX_RAILS, PartitionType

_DOTTED = re.compile(r"/\.\.?(/|$)")


def problem(spec: PolicySpec) -> str | None:
    """Return why a policy is not accepted, as path, problem and expectation; None where it is."""
    return next(_problems(spec), None)


def flaws(spec: PolicySpec) -> Iterator[str]:
    """Yield contradictions that leave the rest of a policy usable, as path and problem."""
    for entry in spec.networks:
        yield from _grant_flaws(entry)
    yield from _limit_flaws(spec.pod_limits)
    yield from _beyond_limits(spec)


def _problems(spec: PolicySpec) -> Iterator[str]:
    if "/" in (spec.tenant or ""):
        yield (
            f"spec.tenant: {spec.tenant}: a tenant's name holds no slash; namespace/NAME is what a "
            "namespace without tenant is called"
        )
    granted = [entry.name for entry in spec.networks]
    if spec.default_network is not None and spec.default_network not in granted:
        yield f"spec.defaultNetwork: {spec.default_network} is not in spec.networks"
    limits = spec.pod_limits
    yield from accept_defaults.problems(spec.pod_defaults)
    yield from accept_defaults.spelling("spec.podLimits.capabilities", limits.capabilities)
    yield from accept_defaults.spelling("spec.podLimits.requiredDrop", limits.required_drop)


def _grant_flaws(entry: NetworkGrant) -> Iterator[str]:
    path = f"spec.networks[{entry.name}]"
    if entry.name == DEFAULT_NETWORK_WORD:
        yield f"{path}.name: no network has this name, it is the word for defaultNetwork"
    most, quota = entry.max_per_pod, entry.quota
    if most is not None and quota is not None and most > MAX_RAILS * quota:
        yield f"{path}.maxPerPod: {most} is more than {quota} (quota) on each of {MAX_RAILS} rails"
    numbers = [one.number for one in entry.partitions if one.number is not None]
    for number in dict.fromkeys(numbers):
        wrong = None if number <= MAX_VLAN else number_problem(PartitionType.PKEY, number)
        if wrong:
            yield f"{path}.partitions: {wrong}"
        if numbers.count(number) > 1:
            yield f"{path}.partitions: number {number} is of two partitions"


def _limit_flaws(limits: PodLimits) -> Iterator[str]:
    for name in limits.required_drop:
        if name in limits.capabilities:
            yield f"spec.podLimits.requiredDrop: {name} is in capabilities too, which may be added"
    for found in limits.host_paths:
        exact = found[:-1] if found.endswith("/*") else found
        if "*" in exact:
            yield f"spec.podLimits.hostPaths: {found}: a * stands only at the end, as /*"
        if "//" in found or _DOTTED.search(found) or (found.endswith("/") and found != "/"):
            yield f"spec.podLimits.hostPaths: {found}: want no //, /./, /../ and no / at the end"


def _beyond_limits(spec: PolicySpec) -> Iterator[str]:
    """Yield defaults that the policy's own limits take away again."""
    defaults, limits = spec.pod_defaults, spec.pod_limits
    for name in (defaults.capabilities.add or ()) if defaults.capabilities else ():
        if name not in limits.capabilities:
            yield f"spec.podDefaults.capabilities.add: {name} is not in podLimits.capabilities"
    largest = limits.shared_memory.max if limits.shared_memory else None
    size = defaults.shared_memory
    if largest is not None and size is not None and (parse(size) or 0) > (parse(largest) or 0):
        yield f"spec.podDefaults.sharedMemory: {size} is above podLimits.sharedMemory.max {largest}"
    fixed = {one.name for one in limits.env}
    for variable in defaults.env:
        if variable.name in fixed:
            yield f"spec.podDefaults.env: {variable.name} has a fixed value in podLimits.env"
