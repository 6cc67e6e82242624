"""A cluster in which the admission policies are in force, and users who differ in what they grant.

In its namespaces each user but admin owns everything (``*`` on ``*`` in a Role), so what is refused
there is refused by the admission policies. The webhook is registered, and runs or does not.
"""

import http
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness import roles, tenants
from tests.harness.api import JSON, MERGE_PATCH
from tests.harness.clients import ADMIN
from tests.harness.controlplane import ControlPlane
from tests.harness.lifetime import Started
from tests.harness.webhook import ACCOUNT, NAMESPACE, Webhook, install

Document = dict[str, Any]

NETWORKS = tuple(f"net-{number:02}" for number in range(16))
"""As many as a policy can name."""
GRANTS_ALL = "grants-all"
GRANTS_NAMED = "grants-named"
"""Each network by its name, so all that there are, but not all that there may be."""
GRANTS_MOST = "grants-most"
"""All networks but the last."""
GRANTS_ONE = "grants-one"
"""The first network."""
TENANT = "tenant"
OWNERS = (GRANTS_ALL, GRANTS_NAMED, GRANTS_MOST, GRANTS_ONE, TENANT)
"""Users to whom the namespaces belong."""
USERS = (ADMIN, *OWNERS)
WRITER = "writer"
"""May write every policy of the cluster, as far as RBAC goes, and grant nothing."""
WORKER = "worker"
"""Has no right but what a test gives."""
CONTROLLER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
"""Our own account, which here may write status as far as RBAC goes."""

API = "/apis/rdma.io/v1alpha1"
STATUSES = ("rdmanetworks/status", "rdmapartitions/status", "rdmapolicies/status")
AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    resources: [{group: rdma.io, resources: [rdmapolicies]}]
    verbs: [delete]
  - level: None
"""


class Guarded(Started):
    """The cluster and its webhook; a context manager, or :meth:`start` and :meth:`stop`."""

    def __init__(self, folder: Path) -> None:
        """Describe it.

        Args:
            folder: Where the API server writes what happens to our objects.
        """
        (folder / "policy.yaml").write_text(AUDIT_POLICY)
        self._audit_log = folder / "audit.log"
        self.cluster = ControlPlane(
            users={user: [] for user in (*OWNERS, WRITER, WORKER)},
            tenants={},
            scheduler=False,
            apiserver_flags=[
                f"--audit-log-path={self._audit_log}",
                f"--audit-policy-file={folder / 'policy.yaml'}",
            ],
        )
        self._webhook = Webhook(self.cluster)

    def start(self) -> None:
        """Start all and return when the admission policies are in force."""
        try:
            self.cluster.start()
            install(self.cluster)
            self._give_rights()
            self._webhook.start()
            self._webhook.wait_until_ready()
            self._webhook.register()
            self._wait_until_guarded(self.new_namespace())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all; calling it again does nothing."""
        self._webhook.stop()
        self.cluster.stop()

    def serve(self, *, up: bool) -> None:
        """Let the webhook run, or not; it stays registered."""
        if up and not self._webhook.is_running:
            self._webhook.start()
            self._webhook.wait_until_ready()
        elif not up and self._webhook.is_running:
            self._webhook.kill()

    def new_namespace(self) -> str:
        """Return a namespace that every user owns."""
        name = f"owned-{secrets.token_hex(4)}"
        self.cluster.add_namespace(name)
        for user in OWNERS:
            roles.allow(self.cluster, user, "owner", [roles.EVERYTHING], name)
        right = {"verb": "create", "group": "rdma.io", "resource": "rdmapolicies"}
        self.cluster.wait_for(
            f"all own {name}",
            lambda: all(roles.may(self.cluster, user, namespace=name, **right) for user in OWNERS),
        )
        return name

    def create(self, namespace: str, spec: Mapping[str, Any]) -> Document:
        """Return the policy of a namespace, created by admin."""
        created: Document = self.cluster.request("POST", policies(namespace), policy(spec))
        return created

    def replace(
        self, path: str, body: Mapping[str, Any], *, user: str, target: str = ""
    ) -> tuple[int, Any]:
        """Return status code and answer of a PUT, as a client does it whose object may change.

        Args:
            path: Of the object.
            body: The object; its metadata are those that it has now.
            user: Who asks.
            target: What comes behind the path: a subresource, a query.
        """
        while True:
            metadata = self.cluster.request("GET", path)["metadata"]
            whole = {**body, "metadata": metadata}
            code, answer = self.cluster.api("PUT", f"{path}{target}", whole, user=user)
            if code != http.HTTPStatus.CONFLICT:
                return code, answer

    def spec(self, namespace: str) -> Any:  # noqa: ANN401 - JSON
        """Return the spec of a namespace's policy; None where there is no policy."""
        found = self.cluster.find(tenants.policy_path(namespace))
        return found and found["spec"]

    def deletions(self, namespace: str) -> dict[str, int]:
        """Return who tried to delete the policy of a namespace, and the status code of the last."""
        lines = self._audit_log.read_text().splitlines() if self._audit_log.exists() else []
        return {
            event["user"]["username"]: event["responseStatus"]["code"]
            for event in map(json.loads, lines)
            if event["objectRef"].get("namespace") == namespace
        }

    # ---------------------------------------------------------------- insides

    def _give_rights(self) -> None:
        named = {
            GRANTS_ONE: NETWORKS[:1],
            GRANTS_MOST: NETWORKS[:-1],
            GRANTS_NAMED: NETWORKS,
            GRANTS_ALL: (),
        }
        for user, networks in named.items():
            rule = {"apiGroups": ["rdma.io"], "resources": ["rdmanetworks"], "verbs": ["grant"]}
            names = {"resourceNames": list(networks)} if networks else {}
            roles.allow(self.cluster, user, "grants", [{**rule, **names}])
        rule = {"apiGroups": ["rdma.io"], "resources": ["rdmapolicies"], "verbs": ["*"]}
        roles.allow(self.cluster, WRITER, "policies", [rule])
        rule = {"apiGroups": ["rdma.io"], "resources": list(STATUSES), "verbs": ["*"]}
        for user in (*OWNERS, CONTROLLER):
            roles.allow(self.cluster, user, "status", [rule])
        self.cluster.service_account_kubeconfig(NAMESPACE, ACCOUNT)

    def _wait_until_guarded(self, namespace: str) -> None:
        """Return when each admission policy refuses something; it takes a moment."""
        self.create(namespace, {})
        path = tenants.policy_path(namespace)
        self._wait_until_refused(TENANT, "DELETE", path)
        status = f"{path}/status"
        self._wait_until_refused(TENANT, "PATCH", status, {"status": {"counts": {"networks": 7}}})
        self._wait_until_refused(ADMIN, "POST", f"{API}/rdmanetworks", network({"Type": "x"}))
        right = {"verb": "update", "group": "rdma.io", "resource": "rdmanetworks"}
        self.cluster.wait_for(
            "all may write status",
            lambda: all(
                roles.may(self.cluster, user, subresource="status", **right)
                for user in (*OWNERS, CONTROLLER)
            ),
        )

    def _wait_until_refused(self, user: str, method: str, path: str, body: object = None) -> None:
        self.cluster.wait_for(
            f"{method} {path}: refused by an admission policy",
            lambda: (
                "ValidatingAdmissionPolicy"
                in str(
                    self.cluster.api(
                        method,
                        f"{path}?dryRun=All",
                        body,
                        user=user,
                        content_type=MERGE_PATCH if method == "PATCH" else JSON,
                    )
                )
            ),
        )


def network(template: Mapping[str, Any] | None = None, name: str = "host") -> Document:
    """Return an RDMANetwork that is right but for its template."""
    more = {} if template is None else {"template": dict(template)}
    rail = {"name": "hca", "resourceName": "rdma/hca"}
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": name},
        "spec": {"mode": "HostNetwork", "rails": [rail], **more},
    }


def policies(namespace: str) -> str:
    """Return the path of a namespace's policies."""
    return f"{API}/namespaces/{namespace}/rdmapolicies"


def policy(spec: Mapping[str, Any]) -> Document:
    """Return a policy with a spec."""
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPolicy",
        "metadata": {"name": "default"},
        "spec": dict(spec),
    }


def entries(*names: str) -> list[Document]:
    """Return the entries of a policy that name networks, with nothing more."""
    return [{"name": name} for name in names]
