"""What strangers send to the webhook's ports: an answer or a hang-up, and the service goes on."""

import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Mapping

import pytest

from tests.harness import tenants
from tests.harness.calls import LOOPBACK, MUTATE, REVIEW_HEADERS, VALIDATE, Document, review
from tests.harness.tenants import NETWORK
from tests.harness.webhook import Webhook

MIB = 1024 * 1024
PATIENCE_SECONDS = 20.0

pytestmark = pytest.mark.usefixtures("unharmed")

SMALL = json.dumps(review(tenants.pod("small", {NETWORK: "roce"}), "team-a")).encode()


def _own(kind: str, written: object) -> bytes:
    """A review of an object of ours."""
    whole = review({}, "")
    request = whole["request"]
    request |= {"kind": {"group": "rdma.io", "version": "v1alpha1", "kind": kind}}
    request |= {"object": written}
    return json.dumps(whole).encode()


def _large(size: int) -> Document:
    """A pod of about so many bytes."""
    values = [{"name": f"V{number}", "value": "x" * 1024} for number in range(size // 1060)]
    container = {"name": "main", "image": "example", "env": values}
    return tenants.pod("large", {NETWORK: "roce"}, containers=[container])


def test_the_largest_pod_is_admitted(webhook: Webhook) -> None:
    """A pod of 3 MiB, the most that the API server takes, is equipped like any other."""
    body = _large(3 * MIB)
    assert len(json.dumps(body)) > 2.9 * MIB
    response = webhook.review(body, "team-a", uid="large")
    assert (response["uid"], response["allowed"]) == ("large", True)
    assert response["patchType"] == "JSONPatch"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"", "no AdmissionReview", id="nothing"),
        pytest.param(b"hello", "no AdmissionReview", id="no JSON"),
        pytest.param(b"[]", "no AdmissionReview", id="a list"),
        pytest.param(b'"AdmissionReview"', "no AdmissionReview", id="a text"),
        pytest.param(SMALL[:-20], "no AdmissionReview", id="cut off"),
        pytest.param(SMALL.replace(b"small", b"\xff\xfe"), "not UTF-8", id="no UTF-8"),
        pytest.param(SMALL.replace(b"/v1", b"/v1beta1", 1), "want AdmissionReview", id="v1beta1"),
        pytest.param(
            SMALL.replace(b"AdmissionReview", b"TokenReview"), "got 'TokenReview'", id="kind"
        ),
        pytest.param(SMALL.replace(b'"u-1"', b'""'), "uid is empty", id="no uid"),
        pytest.param(SMALL.replace(b'"u-1"', b"7"), "request.uid", id="a number as uid"),
        pytest.param(
            json.dumps(review({"metadata": {"annotations": [NETWORK]}, "spec": {}}, "x")).encode(),
            "annotations",
            id="annotations as a list",
        ),
        pytest.param(b'{"a":' * 200_000, "no AdmissionReview", id="bottomless"),
        pytest.param(b"[" * (7 * MIB), "no AdmissionReview", id="7 MiB of brackets"),
    ],
)
def test_what_is_no_review_is_a_client_error(webhook: Webhook, body: bytes, message: str) -> None:
    """A body that cannot be answered is 400 with a sentence, and leaks nothing of the program."""
    status, answer = webhook.send(body)
    assert status == 400, answer
    text = answer.decode()
    assert message in text
    assert text.count("\n") == 1
    assert "Traceback" not in text
    assert ".py" not in text
    assert len(text) < 500


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"", "no AdmissionReview", id="nothing"),
        pytest.param(b'{"a":' * 200_000, "no AdmissionReview", id="bottomless"),
        pytest.param(b"[" * (7 * MIB), "no AdmissionReview", id="7 MiB of brackets"),
        pytest.param(_own("RDMANetwork", "text"), "no object of rdma.io", id="a text as object"),
        pytest.param(_own("RDMAPolicy", {}), "request.namespace is empty", id="nowhere"),
    ],
)
def test_the_same_holds_for_our_own_kinds(webhook: Webhook, body: bytes, message: str) -> None:
    """What cannot be answered at /validate is 400 with a sentence too."""
    status, answer = webhook.send(body, path=VALIDATE)
    assert status == 400, answer
    assert message in answer.decode()
    assert answer.count(b"\n") == 1


@pytest.mark.parametrize(
    ("body", "warnings"),
    [
        pytest.param(SMALL, None, id="a pod"),
        pytest.param(_own("RDMALater", [[]] * MIB), None, id="a later kind"),
        pytest.param(
            _own("RDMANetwork", {"spec": [{}] * MIB}),
            ["it is larger than 512 KiB, so nothing was checked"],
            id="a network of 4 MiB of nothing",
        ),
    ],
)
def test_what_is_not_judged_passes(
    webhook: Webhook, body: bytes, warnings: list[str] | None
) -> None:
    """A registration that asks about other objects holds nobody up."""
    status, answer = webhook.send(body, path=VALIDATE)
    assert status == 200, answer
    response = json.loads(answer)["response"]
    assert (response["allowed"], response.get("warnings")) == (True, warnings)


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
def test_a_body_above_the_cap_is_refused(webhook: Webhook, *, announced: bool) -> None:
    """More than 8 MiB is 413, whether the size is said before or found out."""
    size = 9 * MIB
    connection = http.client.HTTPSConnection(
        LOOPBACK, webhook.port, timeout=PATIENCE_SECONDS, context=webhook.tls()
    )
    with contextlib.closing(connection):
        connection.putrequest("POST", MUTATE)
        connection.putheader("Content-Type", "application/json")
        if announced:
            connection.putheader("Content-Length", str(size))
        else:
            connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            for _ in range(size // MIB):
                piece = b" " * MIB
                chunk = piece if announced else b"%x\r\n%b\r\n" % (MIB, piece)
                connection.send(chunk)
        response = connection.getresponse()
        assert response.status == 413
        assert "want at most 8388608" in response.read().decode()


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        pytest.param("GET", MUTATE, {}, 405, id="wrong method"),
        pytest.param("DELETE", MUTATE, {}, 405, id="another wrong method"),
        pytest.param("POST", "/", REVIEW_HEADERS, 404, id="wrong path"),
        pytest.param("POST", "/mutate/", REVIEW_HEADERS, 404, id="a slash too much"),
        pytest.param("GET", "/metrics", {}, 404, id="metrics are on the other port"),
        pytest.param("POST", MUTATE, {"Content-Type": "text/plain"}, 415, id="no JSON"),
        pytest.param(
            "POST", MUTATE, {**REVIEW_HEADERS, "Content-Encoding": "gzip"}, 415, id="compressed"
        ),
    ],
)
def test_a_misdirected_request_is_a_client_error(
    webhook: Webhook, method: str, path: str, headers: Mapping[str, str], status: int
) -> None:
    """Each is answered with its status and one sentence."""
    found, answer = webhook.send(SMALL, method=method, path=path, headers=headers)
    assert found == status
    assert answer.decode().count("\n") == 1


def _until_closed(connection: socket.socket) -> bytes:
    """What the other side still says before it closes the connection."""
    received = b""
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-", id="half a head"),
        pytest.param(
            b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", id="half a body"
        ),
        pytest.param(
            b"POST /mutate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            id="a chunk that is none",
        ),
        pytest.param(b"\x00\x01\x02\r\n\r\n", id="no HTTP"),
        pytest.param(b"GET " + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n", id="an endless line"),
        pytest.param(
            b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", id="a negative size"
        ),
    ],
)
def test_a_request_that_is_half_sent_or_none_hurts_nobody(webhook: Webhook, sent: bytes) -> None:
    """The client goes away in the middle, or speaks no HTTP; what it hears is no traceback."""
    with socket.create_connection((LOOPBACK, webhook.port), timeout=PATIENCE_SECONDS) as plain:
        connection = webhook.tls().wrap_socket(plain, server_hostname=LOOPBACK)
        with connection:
            connection.sendall(sent)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
            heard = _until_closed(connection)
    assert b"Traceback" not in heard
    assert b" 500 " not in heard


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01" + b"\xff" * 200, id="garbage that begins as TLS"),
        pytest.param(b"\x00" * 64, id="zeros"),
        pytest.param(b"POST /mutate HTTP/1.1\r\nHost: x\r\n\r\n", id="plain HTTP"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_who_speaks_no_tls_is_hung_up_on(webhook: Webhook, sent: bytes) -> None:
    """The TLS port answers nothing but TLS."""
    with socket.create_connection((LOOPBACK, webhook.port), timeout=PATIENCE_SECONDS) as plain:
        plain.sendall(sent)
        plain.shutdown(socket.SHUT_WR)
        heard = _until_closed(plain)
    assert b"Traceback" not in heard
    assert not heard.startswith(b"HTTP/")


def test_many_who_say_nothing_keep_nobody_out(webhook: Webhook) -> None:
    """Two hundred connections that never finish a handshake do not delay a review."""
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            address = (LOOPBACK, webhook.port)
            stack.enter_context(socket.create_connection(address, timeout=PATIENCE_SECONDS))
        body = tenants.pod("small", {NETWORK: "roce"})
        assert webhook.review(body, "team-a")["allowed"]


def test_the_probe_port_is_as_robust(webhook: Webhook) -> None:
    """Other paths and methods there are client errors too."""
    assert webhook.get("/")[0] == 404
    connection = http.client.HTTPConnection(LOOPBACK, webhook.probe_port, timeout=PATIENCE_SECONDS)
    with contextlib.closing(connection):
        connection.request("POST", "/healthz", body=b"x")
        response = connection.getresponse()
        response.read()
        assert response.status == 405
