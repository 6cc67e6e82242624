"""Another team's mutating webhook: it puts a sidecar and a volume before those of every pod."""

import base64
import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from certs.generated import GeneratedPair
from certs.serving import build_context
from tests.harness.controlplane import ControlPlane
from tests.harness.lifetime import Started

NAME = "zz-sidecar-injector"
"""Sorts after ours, so that what it changes makes the API server call ours once more."""
SIDECAR = "injected"
VOLUME = "injected-cache"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class SidecarInjector(Started):
    """The webhook, registered for pods of one namespace; it is started once."""

    def __init__(self, cluster: ControlPlane, namespace: str) -> None:
        """Describe it; nothing runs before :meth:`start`."""
        self._cluster = cluster
        self._namespace = namespace
        self._pair = GeneratedPair(["127.0.0.1"], lambda: datetime.now(UTC))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.socket = build_context(self._pair.read()).wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def start(self) -> None:
        """Start, register, and return when the API server calls it."""
        self._thread.start()
        try:
            self._cluster.request("POST", MUTATING, self._registration())
            self._cluster.wait_for("the sidecar injector is called", self._is_called)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Take the registration away, and stop."""
        self._cluster.api("DELETE", f"{MUTATING}/{NAME}")
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _registration(self) -> dict[str, Any]:
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["pods"],
        }
        client = {
            "url": f"https://127.0.0.1:{self._server.server_port}/",
            "caBundle": base64.b64encode(self._pair.bundle).decode(),
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": NAME},
            "webhooks": [
                {
                    "name": "sidecar.example.com",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": client,
                    "rules": [rule],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": self._namespace}
                    },
                }
            ],
        }

    def _is_called(self) -> bool:
        path = f"/api/v1/namespaces/{self._namespace}/pods?dryRun=All"
        container = {"name": "main", "image": "example"}
        body = {"metadata": {"name": "is-called"}, "spec": {"containers": [container]}}
        status, answer = self._cluster.api("POST", path, body)
        return status == 201 and answer["spec"]["containers"][0]["name"] == SIDECAR


class _Handler(BaseHTTPRequestHandler):
    """Answers one review a connection."""

    def do_POST(self) -> None:
        """Prepend the sidecar where it is not there yet."""
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))["request"]
        response = {"uid": request["uid"], "allowed": True, **_patch(request["object"])}
        body = json.dumps(
            {
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": response,
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base
        """Say nothing."""


def _patch(pod: Mapping[str, Any]) -> dict[str, str]:
    spec = pod["spec"]
    if any(one["name"] == SIDECAR for one in spec["containers"]):
        return {}
    mount = {"name": VOLUME, "mountPath": "/cache"}
    container = {"name": SIDECAR, "image": "sidecar", "volumeMounts": [mount]}
    volume = {"name": VOLUME, "emptyDir": {}}
    has_volumes = bool(spec.get("volumes"))
    ops = [
        {"op": "add", "path": "/spec/containers/0", "value": container},
        {
            "op": "add",
            "path": "/spec/volumes/0" if has_volumes else "/spec/volumes",
            "value": volume if has_volumes else [volume],
        },
    ]
    patch = base64.b64encode(json.dumps(ops).encode()).decode()
    return {"patchType": "JSONPatch", "patch": patch}
