"""Whether the ``podDefaults`` of a network or policy make a pod that Kubernetes takes."""

import re
from collections.abc import Iterable, Iterator

from policies.quantity import parse
from policies.shapes import LABEL_KEY_PATTERN, PodDefaults, Toleration

CAPABILITY_PREFIX = "CAP_"
"""How C spells capabilities; Kubernetes takes them without."""
HUGEPAGES_PATTERN = r"^hugepages-[1-9][0-9]{0,9}(Ki|Mi|Gi)$"
"""Resource of a page size (kubernetes ``pkg/apis/core/v1/helper``, ``IsHugePageResourceName``)."""
_HUGEPAGES = re.compile(HUGEPAGES_PATTERN)
_LABEL_KEY = re.compile(LABEL_KEY_PATTERN)


def problems(shape: PodDefaults) -> Iterator[str]:
    """Yield contradictions, as path, problem and expectation."""
    path = "spec.podDefaults"
    capabilities = shape.capabilities
    if capabilities is not None:
        add, drop = capabilities.add or (), capabilities.drop or ()
        yield from spelling(f"{path}.capabilities.add", add)
        yield from spelling(f"{path}.capabilities.drop", drop)
        for name in sorted(set(add) & set(drop)):
            yield f"{path}.capabilities: {name} is both added and dropped"
    for size, amount in shape.hugepages.items():
        yield from _page_problems(f"{path}.hugepages.{size}", size, amount)
    for key in shape.node_selector:
        if _LABEL_KEY.fullmatch(key) is None:
            yield f"{path}.nodeSelector: {key} is no key of a label: want [PREFIX/]NAME"
    for index, toleration in enumerate(shape.tolerations):
        yield from _toleration_problems(f"{path}.tolerations[{index}]", toleration)


def spelling(path: str, capabilities: Iterable[str]) -> Iterator[str]:
    """Yield capabilities that Kubernetes would not know, since it spells them without prefix."""
    for name in capabilities:
        if name.startswith(CAPABILITY_PREFIX):
            yield f"{path}: {name}: write {name.removeprefix(CAPABILITY_PREFIX)}, without CAP_"


def _page_problems(path: str, size: str, amount: str) -> Iterator[str]:
    """Yield what the API server would refuse in a pod.

    Source: kubernetes ``pkg/apis/core/helper`` (``IsHugePageResourceValueDivisible``).
    """
    if _HUGEPAGES.fullmatch(size) is None:
        yield f"{path}: want a page size such as hugepages-2Mi"
        return
    page, bytes_wanted = parse(size.removeprefix("hugepages-")), parse(amount)
    if not page or bytes_wanted is None or bytes_wanted % page:
        yield f"{path}: {amount} is no multiple of the page size"


def _toleration_problems(path: str, toleration: Toleration) -> Iterator[str]:
    """Yield what the API server would refuse in a pod (``ValidateTolerations``)."""
    if toleration.operator == "Exists" and toleration.value:
        yield f"{path}.value: operator Exists takes any value; write operator Equal, or no value"
    if toleration.operator != "Exists" and not toleration.key:
        yield f"{path}.operator: without key a toleration is for every taint: want Exists"
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield f"{path}.tolerationSeconds: is for effect NoExecute only"
