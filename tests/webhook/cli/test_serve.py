"""The whole service as a process: real sockets, real TLS, the real core."""

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509

from certs.authority import make_authority, sign_leaf
from certs.keypair import KeyPair
from tests.webhook.cli.conftest import STOP_SECONDS, Service

FREE_PORTS = ("--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0")
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def review(annotations: dict[str, str] | None = None) -> bytes:
    """Return an AdmissionReview for a new pod."""
    pod = {**POD, "metadata": {"name": "p", "annotations": annotations or {}}}
    request = {
        "uid": "u-1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "team",
        "operation": "CREATE",
        "object": pod,
    }
    head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**head, "request": request}).encode()


async def post(service: Service, body: bytes) -> tuple[int, dict[str, object]]:
    """Send a review and return status and answer."""
    connector = aiohttp.TCPConnector(ssl=service.trust)
    headers = {"Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession(connector=connector, headers=headers) as client,
        client.post(f"{service.base}/mutate", data=body) as response,
    ):
        return response.status, await response.json(content_type=None)


async def get(url: str) -> tuple[int, str]:
    """Return status and text of a probe."""
    async with aiohttp.ClientSession() as client, client.get(url) as response:
        return response.status, await response.text()


async def test_a_pod_is_judged_over_tls(service: Service) -> None:
    """From --from alone: certificate, readiness, answer, log line, metrics and a clean end."""
    service.until("ready")
    assert (await get(f"{service.probe}/readyz"))[0] == 200
    status, answer = await post(service, review())
    assert status == 200
    assert answer["kind"] == "AdmissionReview"
    assert answer["response"] == {"uid": "u-1", "allowed": True}
    line = service.until("pod_unchanged")
    assert (line["uid"], line["namespace"], line["pod"]) == ("u-1", "team", "p")
    metrics = (await get(f"{service.probe}/metrics"))[1]
    assert 'rdma_webhook_requests_total{code="200",path="/mutate"} 1.0' in metrics
    assert 'rdma_webhook_cache_synced{kind="RDMAPolicy"} 1.0' in metrics
    assert service.stop() == 0
    assert [one["event"] for one in service.lines[-2:]] == ["draining", "stopped"]


async def test_a_pod_that_asks_without_a_policy_is_refused_at_once(service: Service) -> None:
    """With files nothing waits: the refusal comes with HTTP 200 and a reason."""
    status, answer = await post(service, review({"rdma.io/network": "train-ib"}))
    assert status == 200
    assert isinstance(answer["response"], dict)
    assert answer["response"]["allowed"] is False
    line = service.until("pod_refused")
    assert line["reason"]
    assert line["message"]


async def test_a_changed_file_is_read_while_serving(service: Service) -> None:
    """A broken file is a line in the log and a number in the metrics, not an end."""
    (service.folder / "a.yaml").write_text("kind: [")
    assert "a.yaml: document 1, line " in service.until("file_problem")["error"]
    assert (
        'rdma_webhook_snapshot_problems{kind="files"} 1.0'
        in (await get(f"{service.probe}/metrics"))[1]
    )
    assert (await get(f"{service.probe}/readyz"))[0] == 200


async def test_while_draining_reviews_are_answered_and_readiness_is_gone(
    folder: Path,
) -> None:
    """After SIGTERM: not ready, still answering with Connection: close; a second ends it now."""
    service = Service(
        folder,
        *("--from", str(folder), "--ca-file", str(folder.parent / "ca.bundle")),
        *("--drain-seconds", "600"),
    )
    try:
        service.until("ready")
        service.process.send_signal(signal.SIGTERM)
        service.until("draining")
        assert await get(f"{service.probe}/readyz") == (503, "stopping\n")
        connector = aiohttp.TCPConnector(ssl=service.trust)
        async with (
            aiohttp.ClientSession(connector=connector) as client,
            client.post(
                f"{service.base}/mutate",
                data=review(),
                headers={"Content-Type": "application/json"},
            ) as response,
        ):
            assert response.status == 200
            assert response.headers["Connection"] == "close"
        assert service.stop(signal.SIGTERM) == 0
    finally:
        service.kill()


def shown(port: int, authority: KeyPair) -> int:
    """Return the serial number of the certificate that a new client is shown."""
    trust = ssl.create_default_context(cadata=authority.chain.decode())
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        trust.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        der = secure.getpeercert(binary_form=True) or b""
        return x509.load_der_x509_certificate(der).serial_number


def test_certificate_files_are_read_again_while_serving(folder: Path) -> None:
    """The next handshake sees a new pair; a bad one is logged and the good one stays."""
    authority = make_authority("test", datetime.now(UTC))
    paths = folder.parent / "tls.crt", folder.parent / "tls.key"

    def put() -> int:
        pair = sign_leaf(authority, ["localhost"], datetime.now(UTC))
        for path, text in zip(paths, (pair.chain, pair.key), strict=True):
            path.with_suffix(".new").write_bytes(text)
            path.with_suffix(".new").replace(path)
        return pair.leaf.serial_number

    first = put()
    files = (f"--tls-cert-file={paths[0]}", f"--tls-private-key-file={paths[1]}")
    service = Service(folder, "--from", str(folder), *files)
    try:
        port = service.listening["port"]
        assert shown(port, authority) == first
        second = put()
        service.until("certificate_reloaded")
        assert shown(port, authority) == second
        paths[0].write_bytes(b"nonsense")
        service.until("certificate_refused")
        assert shown(port, authority) == second
    finally:
        service.kill()


async def test_clients_that_speak_no_tls_leave_no_traceback(service: Service) -> None:
    """A port scanner's connection is nobody's problem."""
    for piece in (b"GET / HTTP/1.0\r\n\r\n", b"\x16\x03\x01\x00", b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", service.listening["port"])
        writer.write(piece)
        writer.write_eof()
        await reader.read()
        writer.close()
    assert (await post(service, review()))[0] == 200
    service.stop()
    assert not [line for line in service.lines if "traceback" in line or line["level"] == "error"]


async def test_a_stranger_is_not_trusted_by_the_bundle(service: Service) -> None:
    """The certificate is for the names we are called by, and no others."""
    with pytest.raises(ssl.SSLCertVerificationError):
        await asyncio.open_connection(
            "127.0.0.1",
            service.listening["port"],
            ssl=service.trust,
            server_hostname="example.com",
        )


@pytest.mark.parametrize(
    ("flags", "code", "sentence"),
    [
        (["--from", "/absent"], 2, "--from: got '/absent', want the path of a folder"),
        (["--listen", "nonsense"], 2, "--listen: got 'nonsense', want HOST:PORT"),
        (["--kubeconfig", "/absent"], 1, "--kubeconfig: /absent: no such file"),
        (["--tls-cert-file=/absent", "--tls-private-key-file=/absent"], 1, "/absent: cannot be"),
        (["--ca-file", "/absent/ca"], 1, "/absent/ca: CA bundle: cannot be written"),
        (["--listen", "192.0.2.1:0", "--from", "."], 1, "192.0.2.1:0: cannot listen"),
        ([], 1, "no source of objects: give --from DIR or --kubeconfig FILE"),
    ],
)
def test_what_keeps_us_from_serving_is_one_sentence(
    flags: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    """On standard error, with an exit code that scripts can use."""
    found = subprocess.run(
        [sys.executable, "-m", "webhook", "serve", *FREE_PORTS, *flags],
        capture_output=True,
        text=True,
        check=False,
        timeout=STOP_SECONDS,
        env={"PATH": "/usr/bin", "HOME": str(tmp_path), "PYTHONPATH": str(Path.cwd())},
    )
    assert found.returncode == code
    last = found.stderr.splitlines()[-1]
    assert last.startswith("rdma-webhook serve: ")
    assert sentence in last
    assert "Traceback" not in found.stderr
