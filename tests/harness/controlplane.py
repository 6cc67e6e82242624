"""A real control plane on loopback: etcd, API server, controller manager, scheduler, kubectl.

Everything lives in a temporary folder and on free ports, so several can run beside each other.
Nodes are objects without a kubelet; :mod:`tests.harness.kubelet` plays one.
"""

import http
import json
import secrets
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.harness import build, parts, programs
from tests.harness.api import ApiClient
from tests.harness.clients import ADMIN
from tests.harness.lifetime import Started
from tests.harness.objects import Objects
from tests.harness.processes import Processes
from tests.harness.programs import Layout
from tests.harness.waiting import TimedOut, wait_for

START_SECONDS = 60.0

DEFAULT_TENANTS: Mapping[str, str] = {"alice": "team-a", "bob": "team-b"}
"""User to the one namespace in which the user may edit."""


class ControlPlane(Objects, Started):
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

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Start every program and return when pods can be created.

        Raises:
            BuildError: A binary could not be built.
            ProcessFailed: A program ended; the message has its last lines.
            TimedOut: The API server did not become ready.
        """
        self._binaries = build.binaries(parts.CONTROLPLANE)
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

    def compact_etcd(self) -> None:
        """Make etcd forget every revision before the present one, as it does every five minutes."""
        _, listed = self.api("GET", "/api/v1/namespaces?limit=1")
        revision = listed["metadata"]["resourceVersion"]
        url = f"http://127.0.0.1:{self._files.etcd_port}/v3/kv/compaction"
        body = json.dumps({"revision": revision, "physical": True}).encode()
        with urllib.request.urlopen(url, body, timeout=START_SECONDS):
            pass

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

    def _wait_for_programs(self) -> None:
        """Return when what was started last has shown that it works."""
        if self.has_controllers:
            self.add_namespace("default")
        if self.has_scheduler:
            self._running.check("kube-scheduler")
