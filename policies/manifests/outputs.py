"""Status is output: CEL that lets nobody but our own account write it.

``*`` in a namespace covers ``rdmapolicies/status``, so RBAC alone does not keep a tenant out.
"""

from typing import Final

from policies.manifests.vap import USER, AdmissionPolicy, Check, sentence
from policies.names import NETWORK, OUR_USER, PARTITION, PLURALS, POLICY

NAME: Final = "rdma-status"

_NAMESPACE: Final = "has(request.namespace) && request.namespace != '' "
"""Cluster-scoped kinds have none."""


def outputs() -> AdmissionPolicy:
    """Return the policy that guards the status of our kinds."""
    return AdmissionPolicy(
        name=NAME,
        resources=tuple(f"{PLURALS[kind]}/status" for kind in (NETWORK, PARTITION, POLICY)),
        operations=("CREATE", "UPDATE"),
        checks=(
            Check(
                cel=f"{USER} == '{OUR_USER}'",
                says=sentence(
                    f"<request.kind.kind> <({_NAMESPACE}? request.namespace + '/' : '')>"
                    f"<request.name>: status is written by {OUR_USER} alone, not by user <{USER}>; "
                    "it follows from spec, which is what people write"
                ),
                reason="Forbidden",
            ),
        ),
    )
