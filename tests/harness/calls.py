"""What is asked of a running webhook, by clients that trust its CA file and know nothing else."""

import base64
import http.client
import json
import re
import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonpatch

LOOPBACK = "127.0.0.1"
MUTATE = "/mutate"
VALIDATE = "/validate"
REQUEST_SECONDS = 20.0
REVIEW_HEADERS = {"Content-Type": "application/json"}
SAMPLE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")

Document = dict[str, Any]


class Calls(ABC):
    """What can be asked of one process.

    Attributes:
        port: Where it takes reviews, on 127.0.0.1 with TLS.
        probe_port: Where it takes probes and shows metrics, on 127.0.0.1.
    """

    port: int
    probe_port: int

    @property
    @abstractmethod
    def ca_file(self) -> Path:
        """The CA bundle that the process has written."""

    def get(self, path: str) -> tuple[int, str]:
        """Return status code and text of a path on the probe port."""
        connection = http.client.HTTPConnection(LOOPBACK, self.probe_port, timeout=REQUEST_SECONDS)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def metric(self, name: str, **labels: str) -> float:
        """Return the sum of all samples of a metric that carry the labels."""
        _, page = self.get("/metrics")
        samples = [found for line in page.splitlines() if (found := SAMPLE.match(line))]
        return sum(
            float(one["value"])
            for one in samples
            if one["name"] == name
            and all(f'{key}="{value}"' in (one["labels"] or "") for key, value in labels.items())
        )

    def calls(self, path: str = MUTATE) -> int:
        """Return how many reviews the process has answered so far at a path, refused or not."""
        return int(self.metric("rdma_webhook_requests_total", path=path))

    def tls(self) -> ssl.SSLContext:
        """Return what a client needs who trusts the CA file alone."""
        return ssl.create_default_context(cafile=str(self.ca_file))

    def send(
        self,
        body: bytes,
        *,
        method: str = "POST",
        path: str = MUTATE,
        headers: Mapping[str, str] = REVIEW_HEADERS,
    ) -> tuple[int, bytes]:
        """Return status code and body of one request to the TLS port."""
        connection = http.client.HTTPSConnection(
            LOOPBACK, self.port, timeout=REQUEST_SECONDS, context=self.tls()
        )
        try:
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def review(self, pod: Mapping[str, Any], namespace: str, uid: str = "u-1") -> Document:
        """Return the response to a review of a pod, as the API server would send it."""
        status, answer = self.send(json.dumps(review(pod, namespace, uid)).encode())
        assert status == http.HTTPStatus.OK, answer
        response: Document = json.loads(answer)["response"]
        return response


def review(pod: Mapping[str, Any], namespace: str, uid: str = "u-1") -> Document:
    """Return an AdmissionReview of a pod that is about to be created."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": namespace,
            "operation": "CREATE",
            "dryRun": True,
            "object": pod,
        },
    }


def patched(pod: Mapping[str, Any], response: Mapping[str, Any]) -> Document:
    """Return the pod after a response's patch, applied by a library that is not ours."""
    assert response["allowed"], response
    ops = json.loads(base64.b64decode(response.get("patch", "")) or b"[]")
    after: Any = jsonpatch.JsonPatch(ops).apply(dict(pod))
    assert isinstance(after, dict)
    return after
