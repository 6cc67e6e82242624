"""Rights of users, given as an admin would give them: a role of their own and its binding."""

from collections.abc import Sequence
from typing import Any

from tests.harness.controlplane import ControlPlane

GROUP = "rbac.authorization.k8s.io"
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
"""The rule of who owns a namespace."""

Rule = dict[str, Any]


def allow(
    cluster: ControlPlane, user: str, name: str, rules: Sequence[Rule], namespace: str = ""
) -> None:
    """Give a user rights in a namespace, or, without one, in the whole cluster.

    The role is called ``<user>:<name>``.
    """
    prefix, where = (
        ("", f"/apis/{GROUP}/v1/namespaces/{namespace}/")
        if namespace
        else ("Cluster", f"/apis/{GROUP}/v1/")
    )
    metadata = {"name": f"{user}:{name}"}
    kind = f"{prefix}Role"
    reference = {"apiGroup": GROUP, "kind": kind, **metadata}
    subject = {"apiGroup": GROUP, "kind": "User", "name": user}
    role = {"metadata": metadata, "rules": list(rules)}
    binding = {"metadata": metadata, "subjects": [subject], "roleRef": reference}
    cluster.request("POST", f"{where}{kind.lower()}s", role)
    cluster.request("POST", f"{where}{kind.lower()}bindings", binding)


def may(cluster: ControlPlane, user: str, **attributes: str) -> bool:
    """Tell whether a user has a right: ``verb``, ``group``, ``resource``, ``namespace``, ``name``.

    Also a verb that no request has, such as ``grant``.
    """
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(cluster.request("POST", path, review)["status"]["allowed"])
