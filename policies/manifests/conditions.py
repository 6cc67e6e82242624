"""CEL that decides which pods the API server sends to us: the one source of the shipped YAML.

Written so that it can never fail: a failing condition of a webhook with ``failurePolicy: Fail``
refuses the pod without asking us.
"""

from typing import Final

from policies.names import PREFIX

ANNOTATED_NAME: Final = "any-rdma-annotation"

ANNOTATED: Final = (
    "has(object.metadata.annotations) && "
    f"object.metadata.annotations.exists(key, key.lowerAscii().startsWith('{PREFIX}'))"
)
"""True for an object with any annotation under our prefix, in any letter case.

``RDMA.io/Network`` is a legal key; such a pod comes to us, so that its author is told.
"""


def match_conditions() -> list[dict[str, str]]:
    """Return the ``matchConditions`` of the mutating webhook."""
    return [{"name": ANNOTATED_NAME, "expression": ANNOTATED}]
