"""The webhook under test: installed as shipped, run as a process, registered as an admin would.

Nothing of the product is imported: it is a command, a folder of manifests, and two ports.
"""

import base64
import http
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Self

import yaml

from tests.harness.calls import LOOPBACK, VALIDATE, Calls, Document
from tests.harness.controlplane import ControlPlane
from tests.harness.lifetime import Started
from tests.harness.processes import Processes
from tests.harness.waiting import wait_for

DEPLOY = Path(__file__).parents[2] / "deploy"
EXAMPLES = DEPLOY / "examples"
OVERLAY = DEPLOY / "overlays" / "url"
NAMESPACE = "rdma-system"
ACCOUNT = "rdma-webhook"
CONFIGURATION = "MutatingWebhookConfiguration"
"""Of the webhook for pods."""
CONFIGURATIONS = (CONFIGURATION, "ValidatingWebhookConfiguration")

START_SECONDS = 30.0


def documents(path: Path) -> list[Document]:
    """Return the YAML documents of a file, or of all files of a folder in the order of names."""
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    return [one for file in files for one in yaml.safe_load_all(file.read_text()) if one]


def shipped(cluster: ControlPlane) -> list[Document]:
    """Return the objects of the overlay for a webhook outside the cluster, as kubectl renders."""
    rendered = cluster.kubectl("kustomize", str(OVERLAY)).stdout
    return [one for one in yaml.safe_load_all(rendered) if one]


def install(cluster: ControlPlane) -> None:
    """Apply all that is shipped but the registration, and return when our kinds are served."""
    cluster.add_nad_crd()
    objects = [one for one in shipped(cluster) if one["kind"] not in CONFIGURATIONS]
    cluster.apply(yaml.safe_dump_all(objects), server_side=True)
    for one in objects:
        if one["kind"] == "CustomResourceDefinition":
            cluster.wait_for_crd(one["metadata"]["name"])


def apply_examples(cluster: ControlPlane) -> None:
    """Apply the example networks, and the tenants team-a and team-b with their attachments."""
    for folder in ("networks", "tenants", "attachments"):
        cluster.apply(EXAMPLES / folder, server_side=True)


class Webhook(Calls, Started):
    """One process of ``rdma-webhook serve``; a context manager, or :meth:`start` and :meth:`stop`.

    Its account is the shipped one under the shipped RBAC. Ports are any free ones; a process that
    is started again has those of the one before.
    """

    def __init__(self, cluster: ControlPlane, *flags: str) -> None:
        """Describe a process; nothing runs before :meth:`start`.

        Args:
            cluster: Where :func:`install` was called.
            flags: Further flags of ``serve``; they come last.
        """
        self.cluster = cluster
        self.port = 0
        self.probe_port = 0
        self._flags = flags
        self._processes: Processes | None = None
        self._starts = 0

    def __enter__(self) -> Self:
        """Start, wait until ready, and return itself."""
        super().__enter__()
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Start the process and return when it listens.

        Raises:
            ProcessFailed: It ended; the message has its last lines.
        """
        if self._processes is None:
            self._processes = Processes("rdma-webhook-")
        self._starts += 1
        kubeconfig = self.cluster.service_account_kubeconfig(NAMESPACE, ACCOUNT)
        command = [
            str(Path(sys.executable).with_name("rdma-webhook")),
            "serve",
            f"--kubeconfig={kubeconfig}",
            f"--listen={LOOPBACK}:{self.port}",
            f"--probe-listen={LOOPBACK}:{self.probe_port}",
            f"--ca-file={self.ca_file}",
            *self._flags,
        ]
        try:
            self._processes.start(self._name, command)
            said = wait_for("rdma-webhook: listening", self._listening, START_SECONDS)
            self._processes.check(self._name)
        except BaseException:
            self.stop()
            raise
        self.port, self.probe_port = said["port"], said["probe_port"]

    def wait_until_ready(self) -> None:
        """Return when the process says that it is ready."""
        wait_for("rdma-webhook: ready", lambda: self.get("/readyz") == (200, "ready\n"))

    def stop(self) -> None:
        """End the process and remove its folder; calling it again does nothing."""
        processes, self._processes = self._processes, None
        if processes is not None:
            processes.close()

    def kill(self) -> None:
        """End the process at once, as in an outage; :meth:`start` starts it on the same ports."""
        self._running.stop(self._name, kill=True)

    def terminate(self) -> None:
        """Ask the process to end, once, as a kubelet does; :meth:`wait` says how it ended."""
        os.kill(self._running.pid(self._name), signal.SIGTERM)

    def wait(self, timeout: float = START_SECONDS) -> int:
        """Return the exit code of the process once it has ended."""
        return self._running.wait(self._name, timeout)

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._running.is_running(self._name)

    # ---------------------------------------------------------- registration

    @property
    def ca_file(self) -> Path:
        """The CA bundle that the process has written."""
        return self._running.folder / "ca.crt"

    def registration(self, kind: str = CONFIGURATION) -> Document:
        """Return a shipped webhook configuration with our port and CA, and nothing else new."""
        (found,) = [one for one in shipped(self.cluster) if one["kind"] == kind]
        client = found["webhooks"][0]["clientConfig"]
        client["url"] = re.sub(r":\d+/", f":{self.port}/", client["url"])
        client["caBundle"] = base64.b64encode(self.ca_file.read_bytes()).decode()
        return found

    def register(self) -> None:
        """Apply both webhook configurations; return when the API server calls this process."""
        documents = [self.registration(kind) for kind in CONFIGURATIONS]
        self.cluster.apply(yaml.safe_dump_all(documents), server_side=True)
        wait_for("the API server calls rdma-webhook about pods", self._is_called)
        wait_for("the API server calls rdma-webhook about our kinds", self._is_asked)

    # -------------------------------------------------------------- questions

    def log(self) -> str:
        """Return all that every process of this object has written so far."""
        names = [f"serve-{number}" for number in range(1, self._starts + 1)]
        return "".join(self._running.log(name).read_text(errors="replace") for name in names)

    def decisions(self, namespace: str, pod: str) -> list[Document]:
        """Return the log lines about a pod (``NAME``, or ``PREFIX*``), in their order."""
        lines = [_parsed(line) for line in self.log().splitlines()]
        return [
            line
            for line in lines
            if "pod" in line and (line["namespace"], line["pod"]) == (namespace, pod)
        ]

    # ---------------------------------------------------------------- insides

    @property
    def _name(self) -> str:
        return f"serve-{self._starts}"

    @property
    def _running(self) -> Processes:
        if self._processes is None:
            raise RuntimeError("the webhook is not started")
        return self._processes

    def _listening(self) -> Document | None:
        """Return the log line that says the ports; something at once where it has ended."""
        for line in self._running.log(self._name).read_text(errors="replace").splitlines():
            if _parsed(line).get("event") == "listening":
                return _parsed(line)
        return None if self.is_running else {"event": "ended"}

    def _is_called(self) -> bool:
        """Tell whether a pod that only this process can judge reaches it."""
        before = self.calls()
        body = {
            "metadata": {"name": "is-called", "annotations": {"rdma.io/is-called": ""}},
            "spec": {"containers": [{"name": "main", "image": "example"}]},
        }
        path = "/api/v1/namespaces/default/pods?dryRun=All"
        status, _ = self.cluster.api("POST", path, body)
        return status == http.HTTPStatus.UNPROCESSABLE_ENTITY and self.calls() > before

    def _is_asked(self) -> bool:
        """Tell whether an object of ours reaches this process."""
        before = self.calls(VALIDATE)
        body = {
            "apiVersion": "rdma.io/v1alpha1",
            "kind": "RDMAPolicy",
            "metadata": {"name": "default"},
            "spec": {},
        }
        path = "/apis/rdma.io/v1alpha1/namespaces/default/rdmapolicies?dryRun=All"
        self.cluster.api("POST", path, body)
        return self.calls(VALIDATE) > before


def _parsed(line: str) -> Document:
    """Return a log line's fields; none where it is no JSON object."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
