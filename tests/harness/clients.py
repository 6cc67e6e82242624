"""How users reach the API server: bearer tokens, kubeconfigs, the real kubectl, plain requests."""

import http
import json
import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness import programs
from tests.harness.api import JSON, ApiClient
from tests.harness.programs import Layout

KUBECTL_SECONDS = 60.0
TOKEN_LIFETIME_SECONDS = 86_400

ADMIN = "admin"


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


class Clients(ABC):
    """What any user can ask of one API server."""

    _tokens: dict[str, str]
    """User to bearer token."""
    _binaries: Mapping[str, Path]

    @property
    @abstractmethod
    def _client(self) -> ApiClient:
        """The connections to the API server."""

    @property
    @abstractmethod
    def _files(self) -> Layout:
        """The files and ports of the cluster."""

    def token(self, user: str = ADMIN) -> str:
        """Return the user's bearer token."""
        return self._tokens[user]

    def kubeconfig(self, user: str = ADMIN) -> Path:
        """Return a kubeconfig file for the user."""
        path = self._files.folder / f"{user.replace(':', '-')}.kubeconfig"
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
            env={**os.environ, "HOME": str(self._files.folder), **(env or {})},
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
        answer: dict[str, Any] = self.request("GET", pod_path(namespace, name))
        return answer


def pod_path(namespace: str, name: str) -> str:
    """Return the API path of a pod."""
    return f"/api/v1/namespaces/{namespace}/pods/{name}"
