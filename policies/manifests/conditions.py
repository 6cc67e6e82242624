"""CEL that decides what the API server sends to us: the one source of the shipped YAML.

Written so that it can never fail: a failing condition of a webhook with ``failurePolicy: Fail``
refuses the object without asking us, one with ``Ignore`` lets it pass unseen.
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

SPEC_CHANGED_NAME: Final = "spec-changed"

SPEC_CHANGED: Final = "oldObject == null || object == null || object.spec != oldObject.spec"
"""True for what is created or deleted, and for an update that is more than labels or finalizers.

Our kinds cannot lack a spec: the schema requires it.
"""


def match_conditions() -> list[dict[str, str]]:
    """Return the ``matchConditions`` of the mutating webhook."""
    return [{"name": ANNOTATED_NAME, "expression": ANNOTATED}]


def object_match_conditions() -> list[dict[str, str]]:
    """Return the ``matchConditions`` of the webhook that judges our own kinds."""
    return [{"name": SPEC_CHANGED_NAME, "expression": SPEC_CHANGED}]
