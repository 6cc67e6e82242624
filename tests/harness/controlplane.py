"""A real control plane on loopback: etcd, API server, controller manager, scheduler, kubectl.

Everything lives in a temporary folder and on free ports, so several can run beside each other.
Nodes are objects without a kubelet; :mod:`tests.harness.dataplane` plays one.
"""

import functools
import http
import json
import os
import secrets
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.harness import build, programs
from tests.harness.api import JSON, MERGE_PATCH, ApiClient
from tests.harness.processes import Processes
from tests.harness.programs import Layout
from tests.harness.waiting import Result, TimedOut, wait_for

START_SECONDS = 60.0
KUBECTL_SECONDS = 60.0
TOKEN_LIFETIME_SECONDS = 86_400

ADMIN = "admin"
DEFAULT_TENANTS: Mapping[str, str] = {"alice": "team-a", "bob": "team-b"}
"""User to the one namespace in which the user may edit."""

NODE_CAPACITY: Mapping[str, str] = {
    "cpu": "64",
    "memory": "512Gi",
    "ephemeral-storage": "100Gi",
    "pods": "110",
}
"""What every node has besides what a test gives it."""

NAD_CRD = Path(__file__).with_name("manifests") / "nad-crd.yaml"


class KubectlFailed(subprocess.CalledProcessError):
    """A ``kubectl`` command failed; the message has what it wrote."""

    def __str__(self) -> str:
        """Return the command, its exit code and its output."""
        command = " ".join(self.cmd[:1] + self.cmd[3:])
        return f"{command}: exit {self.returncode}\n{self.stderr}{self.stdout}"


class ApiRefused(Exception):
    """The API server refused a request of the harness itself.

    Attributes:
        status: HTTP status code.
        answer: The parsed answer, usually a ``Status``.
    """

    def __init__(self, request: str, status: int, answer: Any) -> None:  # noqa: ANN401 - JSON
        """Keep the answer and make its message readable."""
        self.status = status
        self.answer = answer
        message = answer.get("message", answer) if isinstance(answer, dict) else answer
        super().__init__(f"{request}: {status}: {message}")


class ControlPlane:
    """One cluster; a context manager, or :meth:`start` and :meth:`stop`."""

    def __init__(
        self,
        *,
        users: Mapping[str, Sequence[str]] | None = None,
        tenants: Mapping[str, str] = DEFAULT_TENANTS,
        controllers: bool = True,
        scheduler: bool = True,
        apiserver_flags: Sequence[str] = (),
    ) -> None:
        """Describe a cluster; nothing runs before :meth:`start`.

        Args:
            users: Further users and their groups; ``admin`` is always there.
            tenants: Users who may edit in one namespace, which is created.
            controllers: Run the controller manager. Without it (faster) namespaces get no default
                ServiceAccount, so pods are admitted without one, and deleted namespaces stay.
            scheduler: Run the scheduler. Without it pods stay unbound unless a test binds them.
            apiserver_flags: Further flags of the API server; they come last.
        """
        self.tenants = dict(tenants)
        self.has_controllers = controllers
        self.has_scheduler = scheduler
        self._apiserver_flags = list(apiserver_flags)
        self._groups: dict[str, Sequence[str]] = {
            ADMIN: ["system:masters"],
            "system:kube-controller-manager": [],
            "system:kube-scheduler": [],
            **{user: [namespace] for user, namespace in tenants.items()},
            **(users or {}),
        }
        self._tokens = {user: secrets.token_hex(16) for user in self._groups}
        self._binaries: Mapping[str, Path] = {}
        self._processes: Processes | None = None
        self._api: ApiClient | None = None
        self._layout: Layout | None = None

    def __enter__(self) -> Self:
        """Start and return itself."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Start every program and return when pods can be created.

        Raises:
            BuildError: A binary could not be built.
            ProcessFailed: A program ended; the message has its last lines.
            TimedOut: The API server did not become ready.
        """
        self._binaries = build.binaries(build.CONTROLPLANE)
        self._processes = Processes("rdma-controlplane-")
        try:
            self._layout = programs.new_layout(self._processes.folder)
            self._write_credentials()
            self._start("etcd", programs.etcd_flags(self._layout))
            self.start_apiserver()
            if self.has_controllers:
                kubeconfig = self.kubeconfig("system:kube-controller-manager")
                flags = programs.controller_manager_flags(self._layout, kubeconfig)
                self._start("kube-controller-manager", flags)
            if self.has_scheduler:
                kubeconfig = self.kubeconfig("system:kube-scheduler")
                self._start("kube-scheduler", programs.scheduler_flags(kubeconfig))
            for user, namespace in self.tenants.items():
                self.add_tenant(user, namespace)
            self._wait_for_programs()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every program and remove its data; calling it again does nothing."""
        if self._api is not None:
            self._api.close()
            self._api = None
        if self._processes is not None:
            self._processes.close()
            self._processes = self._layout = None

    def start_apiserver(self) -> None:
        """Start the API server on its port and return when it is ready."""
        flags = programs.apiserver_flags(self._files, has_controllers=self.has_controllers)
        self._start("kube-apiserver", [*flags, *self._apiserver_flags])
        certificate = self.ca_file
        self._wait_while_running("kube-apiserver", certificate.exists)
        if self._api is None:
            self._api = ApiClient(self.port, certificate)
        self._wait_while_running("kube-apiserver", self._is_ready)

    def stop_apiserver(self, *, kill: bool = True) -> None:
        """End the API server and keep its data, as in an outage."""
        self._running.stop("kube-apiserver", kill=kill)
        self._client.close()

    def restart_apiserver(self, *, kill: bool = True) -> None:
        """Stop the API server, start it again with its data, and return when it is ready."""
        self.stop_apiserver(kill=kill)
        self.start_apiserver()

    @property
    def folder(self) -> Path:
        """The temporary folder with credentials, data and ``<program>.log``."""
        return self._running.folder

    @property
    def port(self) -> int:
        """The port of the API server on 127.0.0.1."""
        return self._files.api_port

    @property
    def url(self) -> str:
        """The address of the API server."""
        return self._files.url

    @property
    def ca_file(self) -> Path:
        """The certificates that clients of the API server trust, PEM."""
        return self._files.ca_file

    def log(self, program: str) -> str:
        """Return what ``kube-apiserver`` (or another program) has written so far."""
        return self._running.log(program).read_text(errors="replace")

    # --------------------------------------------------------------- clients

    def token(self, user: str = ADMIN) -> str:
        """Return the user's bearer token."""
        return self._tokens[user]

    def kubeconfig(self, user: str = ADMIN) -> Path:
        """Return a kubeconfig file for the user."""
        path = self.folder / f"{user.replace(':', '-')}.kubeconfig"
        text = programs.kubeconfig_text(self._files, user, self.token(user))
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return path

    def service_account_kubeconfig(self, namespace: str, name: str) -> Path:
        """Return a kubeconfig file with a fresh one-day token of the ServiceAccount.

        From then on ``system:serviceaccount:<namespace>:<name>`` is a user here like any other.
        """
        answer = self.request(
            "POST",
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"expirationSeconds": TOKEN_LIFETIME_SECONDS},
            },
        )
        user = f"system:serviceaccount:{namespace}:{name}"
        self._tokens[user] = answer["status"]["token"]
        return self.kubeconfig(user)

    def kubectl(
        self,
        *arguments: str,
        user: str = ADMIN,
        stdin: str | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Return the outcome of the real ``kubectl`` run as the user.

        Raises:
            KubectlFailed: It failed and ``check`` is true.
        """
        command = [str(self._binaries["kubectl"]), "--kubeconfig", str(self.kubeconfig(user))]
        done = subprocess.run(
            [*command, *arguments],
            input=stdin,
            env={**os.environ, "HOME": str(self.folder), **(env or {})},
            cwd=Path.cwd(),
            capture_output=True,
            text=True,
            check=False,
            timeout=KUBECTL_SECONDS,
        )
        if check and done.returncode != 0:
            raise KubectlFailed(done.returncode, done.args, done.stdout, done.stderr)
        return done

    def api(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        user: str = ADMIN,
        content_type: str = JSON,
    ) -> tuple[int, Any]:
        """Return status code and parsed answer of one request, refused or not."""
        return self._client.request(
            method, path, body, token=self.token(user), content_type=content_type
        )

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        user: str = ADMIN,
        content_type: str = JSON,
    ) -> Any:  # noqa: ANN401 - JSON is of any type
        """Return the parsed answer of one request.

        Raises:
            ApiRefused: The status code is 400 or more.
        """
        status, answer = self.api(method, path, body, user=user, content_type=content_type)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiRefused(f"{method} {path}", status, answer)
        return answer

    # --------------------------------------------------------------- objects

    def apply(self, manifest: str | Path, *, user: str = ADMIN, server_side: bool = False) -> str:
        """Return what ``kubectl apply`` says about YAML text, a file or a folder.

        A folder with a ``kustomization.yaml`` is applied as such.
        """
        flags = ["--server-side"] if server_side else []
        if isinstance(manifest, str):
            return self.kubectl("apply", *flags, "-f", "-", user=user, stdin=manifest).stdout
        source = "-k" if (manifest / "kustomization.yaml").exists() else "-f"
        return self.kubectl("apply", *flags, source, str(manifest), user=user).stdout

    def get_json(self, *arguments: str, user: str = ADMIN) -> Any:  # noqa: ANN401 - JSON
        """Return the parsed output of ``kubectl get … -o json``."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json", user=user).stdout)

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

    def find(self, path: str) -> Any | None:  # noqa: ANN401 - JSON is of any type
        """Return the object at an API path, or None where there is none."""
        status, answer = self.api("GET", path)
        if status == http.HTTPStatus.NOT_FOUND:
            return None
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiRefused(f"GET {path}", status, answer)
        return answer

    def pod(self, namespace: str, name: str) -> dict[str, Any]:
        """Return the pod as the API server has it now."""
        answer: dict[str, Any] = self.request("GET", _pod_path(namespace, name))
        return answer

    def delete_pod(self, namespace: str, name: str) -> None:
        """Delete a pod at once, as a kubelet that has ended it; it may be gone already."""
        path = f"{_pod_path(namespace, name)}?gracePeriodSeconds=0"
        status, answer = self.api("DELETE", path)
        if status not in {http.HTTPStatus.OK, http.HTTPStatus.NOT_FOUND}:
            raise ApiRefused(f"DELETE {path}", status, answer)

    # --------------------------------------------------------------- waiting

    def wait_for(
        self, what: str, check: Callable[[], Result | None], timeout: float = 30.0
    ) -> Result:
        """Return the first truthy result of ``check``, as :func:`.waiting.wait_for`."""
        return wait_for(what, check, timeout)

    def wait_for_pod(
        self,
        namespace: str,
        name: str,
        what: str,
        check: Callable[[dict[str, Any]], Result | None],
        timeout: float = 30.0,
    ) -> Result:
        """Return the first truthy result of ``check`` on the pod, named ``what`` in errors."""
        return wait_for(
            f"pod {namespace}/{name}: {what}", lambda: check(self.pod(namespace, name)), timeout
        )

    def wait_until_bound(self, namespace: str, name: str, timeout: float = 30.0) -> str:
        """Return the name of the node that the scheduler chose."""
        return self.wait_for_pod(namespace, name, "bound to a node", _node_name, timeout)

    def wait_until_unschedulable(self, namespace: str, name: str, timeout: float = 30.0) -> str:
        """Return the scheduler's reason for leaving the pod Pending."""
        return self.wait_for_pod(
            namespace, name, "found unschedulable", _unschedulable_reason, timeout
        )

    def wait_for_phase(
        self, namespace: str, name: str, phase: str, timeout: float = 30.0
    ) -> dict[str, Any]:
        """Return the pod once it is in the phase."""
        return self.wait_for_pod(
            namespace,
            name,
            f"phase {phase}",
            lambda pod: pod if pod["status"].get("phase") == phase else None,
            timeout,
        )

    def wait_for_crd(self, name: str, timeout: float = 30.0) -> None:
        """Return when objects of the CustomResourceDefinition can be created."""
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        crd = wait_for(
            f"CustomResourceDefinition {name}: Established",
            lambda: _if_established(self.find(path)),
            timeout,
        )
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        for version in crd["spec"]["versions"]:
            served = f"/apis/{group}/{version['name']}/{plural}?limit=1"
            if version["served"]:
                wait_for(f"{served}: served", functools.partial(self.find, served), timeout)

    def wait_until_gone(self, path: str, timeout: float = 30.0) -> None:
        """Return when there is no object at the API path."""
        wait_for(f"{path}: gone", lambda: self.find(path) is None, timeout)

    # -------------------------------------------------------------- insides

    @property
    def _running(self) -> Processes:
        if self._processes is None:
            raise RuntimeError("the control plane is not started")
        return self._processes

    @property
    def _client(self) -> ApiClient:
        if self._api is None:
            raise RuntimeError("the control plane is not started")
        return self._api

    @property
    def _files(self) -> Layout:
        if self._layout is None:
            raise RuntimeError("the control plane is not started")
        return self._layout

    def _write_credentials(self) -> None:
        self._files.tokens_file.write_text(programs.token_lines(self._tokens, self._groups))
        self._files.account_key_file.write_text(programs.new_private_key())

    def _start(self, program: str, flags: Sequence[str]) -> None:
        self._running.start(program, [str(self._binaries[program]), *flags])

    def _wait_while_running(self, program: str, check: Callable[[], bool]) -> None:
        """Return when ``check`` is true; at once with the log where the program has ended."""

        def answer() -> str | None:
            for name in ("etcd", program):
                if not self._running.is_running(name):
                    return "ended"
            return "ready" if check() else None

        try:
            outcome = wait_for(f"{program}: ready", answer, START_SECONDS)
        except TimedOut as err:
            raise TimedOut(
                f"{err}; the last lines of {program}:\n{self._running.tail(program)}"
            ) from err
        if outcome == "ended":
            self._running.check("etcd")
            self._running.check(program)

    def _is_ready(self) -> bool:
        status, _ = self.api("GET", "/readyz")
        return status == http.HTTPStatus.OK

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

    def _wait_for_programs(self) -> None:
        """Return when what was started last has shown that it works."""
        if self.has_controllers:
            self.add_namespace("default")
        if self.has_scheduler:
            self._running.check("kube-scheduler")

    def _create_or_merge(self, path: str, name: str, body: Mapping[str, Any]) -> None:
        status, answer = self.api("POST", path, body)
        if status == http.HTTPStatus.CONFLICT:
            status, answer = self.api("PATCH", f"{path}/{name}", body, content_type=MERGE_PATCH)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiRefused(f"POST {path} {name}", status, answer)


def _pod_path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def _node_name(pod: Mapping[str, Any]) -> str | None:
    name: str | None = pod["spec"].get("nodeName")
    return name


def _unschedulable_reason(pod: Mapping[str, Any]) -> str | None:
    for condition in pod["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            return str(condition["message"])
    return None


def _if_established(crd: dict[str, Any] | None) -> dict[str, Any] | None:
    conditions = (crd or {}).get("status", {}).get("conditions", [])
    is_established = any(c["type"] == "Established" and c["status"] == "True" for c in conditions)
    return crd if is_established else None
