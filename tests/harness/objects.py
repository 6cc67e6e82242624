"""The objects that tests put into a cluster: namespaces, tenants, nodes, a foreign kind."""

import functools
import http
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness.api import MERGE_PATCH
from tests.harness.clients import ApiRefused, pod_path
from tests.harness.waits import Waits

NODE_CAPACITY: Mapping[str, str] = {
    "cpu": "64",
    "memory": "512Gi",
    "ephemeral-storage": "100Gi",
    "pods": "110",
}
"""What every node has besides what a test gives it."""

NAD_CRD = Path(__file__).with_name("manifests") / "nad-crd.yaml"


class Objects(Waits):
    """What can be added to one cluster, and taken from it."""

    has_controllers: bool

    def add_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> None:
        """Create a namespace, or label the one there is, and return when pods can be created."""
        body = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": dict(labels or {})},
        }
        self._create_or_merge("/api/v1/namespaces", name, body)
        if self.has_controllers:
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            self.wait_for(
                f"default ServiceAccount of {name}", functools.partial(self.find, account)
            )

    def add_tenant(self, user: str, namespace: str) -> None:
        """Let a user known since the start edit in the namespace, which is created if absent."""
        self.add_namespace(namespace)
        roles = ["edit"]
        if not self.has_controllers:  # which would otherwise fill "edit" from these
            roles += ["system:aggregate-to-edit", "system:aggregate-to-view"]
        group = "rbac.authorization.k8s.io"
        path = f"/apis/{group}/v1/namespaces/{namespace}/rolebindings"
        for role in roles:
            name = f"{user}:{role}"
            body = {
                "apiVersion": f"{group}/v1",
                "kind": "RoleBinding",
                "metadata": {"name": name},
                "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
                "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            }
            self._create_or_merge(path, name, body)
        self.wait_for(f"{user} may edit in {namespace}", lambda: self._may_edit(user, namespace))

    def add_node(
        self, name: str, capacity: Mapping[str, str], labels: Mapping[str, str] | None = None
    ) -> None:
        """Add a Ready node, or change the one there is, that has the capacity.

        Args:
            name: Name of the node.
            capacity: Extended resources, as ``{"rdma/hca": "1000"}``; ``NODE_CAPACITY`` is added.
            labels: Labels of the node; the host name label is added.
        """
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **(labels or {})}
        body = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
        }
        self._create_or_merge("/api/v1/nodes", name, body)
        # The API server taints new nodes; no node controller runs here that would take it away.
        path = f"/api/v1/nodes/{name}"
        self.request("PATCH", path, {"spec": {"taints": None}}, content_type=MERGE_PATCH)
        amounts = {**NODE_CAPACITY, **capacity}
        ready = {"type": "Ready", "status": "True", "reason": "TestNode"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        self.request("PATCH", f"{path}/status", {"status": status}, content_type=MERGE_PATCH)

    def add_nad_crd(self) -> None:
        """Define NetworkAttachmentDefinitions and return when they can be created."""
        self.apply(NAD_CRD)
        self.wait_for_crd("network-attachment-definitions.k8s.cni.cncf.io")

    def delete_pod(self, namespace: str, name: str) -> None:
        """Delete a pod at once, as a kubelet that has ended it; it may be gone already."""
        path = f"{pod_path(namespace, name)}?gracePeriodSeconds=0"
        status, answer = self.api("DELETE", path)
        if status not in {http.HTTPStatus.OK, http.HTTPStatus.NOT_FOUND}:
            raise ApiRefused(f"DELETE {path}", status, answer)

    def _may_edit(self, user: str, namespace: str) -> bool:
        attributes = {"namespace": namespace, "verb": "create", "resource": "pods"}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = self.request("POST", path, review, user=user)
        return bool(answer["status"]["allowed"])

    def _create_or_merge(self, path: str, name: str, body: Mapping[str, Any]) -> None:
        status, answer = self.api("POST", path, body)
        if status == http.HTTPStatus.CONFLICT:
            status, answer = self.api("PATCH", f"{path}/{name}", body, content_type=MERGE_PATCH)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiRefused(f"POST {path} {name}", status, answer)
