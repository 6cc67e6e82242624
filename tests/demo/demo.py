"""The demonstration: the installed webhook answers the shipped examples over TLS.

Starts the real program with the shipped networks and tenants, sends it each example pod as the API
server would, and shows what it makes of them. Ends with code 1 if anything is not as
``expected.yaml`` says, or not as ``rdma-webhook preview`` says. Run it as
``python -m tests.demo.demo`` in an environment where the project is installed.
"""

import contextlib
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from policies.names import SELECTION_ANNOTATION
from policies.rules import Rules
from webhook.cli import reviews
from webhook.cli.colours import painter
from webhook.cli.preview import report, world
from webhook.cli.preview.verdicts import Judged, judge
from webhook.cli.preview.world import World
from webhook.pods.templates import templates

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "deploy" / "examples"
START_SECONDS = 10.0
STOP_SECONDS = 5.0


class NotAsShown(Exception):
    """Something is not as it should be; one sentence."""


@dataclass(frozen=True)
class Server:
    """The running program."""

    process: subprocess.Popen[str]
    port: int
    trust: ssl.SSLContext


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start the installed program, and stop it by its process id."""
    with tempfile.TemporaryDirectory(prefix="rdma-demo-") as folder:
        bundle = Path(folder) / "ca.pem"
        flags = {
            "--from": str(EXAMPLES),
            "--listen": "127.0.0.1:0",
            "--probe-listen": "127.0.0.1:0",
            "--ca-file": str(bundle),
            "--drain-seconds": "0",
        }
        process = subprocess.Popen(
            [*_program(), "serve", *(part for flag in flags.items() for part in flag)],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            port = _listening(process)
            yield Server(process, port, ssl.create_default_context(cafile=str(bundle)))
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        if process.returncode != 0:
            raise NotAsShown(f"the server ended with code {process.returncode}, want 0")


def _program() -> list[str]:
    installed = Path(sys.executable).with_name("rdma-webhook")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "webhook"]


def _listening(process: subprocess.Popen[str]) -> int:
    """Return the port of the log line ``listening``."""
    assert process.stderr is not None
    deadline = time.monotonic() + START_SECONDS
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        found = json.loads(line) if line.startswith("{") else {}
        if found.get("event") == "listening":
            return int(found["port"])
        if time.monotonic() > deadline:
            break
    raise NotAsShown(f"the server does not listen: {''.join(said[-3:]).strip()}")


def ask(connection: http.client.HTTPSConnection, body: bytes) -> dict[str, Any]:
    """Return the response to one review, over verified TLS."""
    connection.request("POST", "/mutate?timeout=3s", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != http.HTTPStatus.OK:
        raise NotAsShown(f"HTTP {answer.status}: {content.decode()}")
    response: dict[str, Any] = json.loads(content)["response"]
    return response


def check(expected: Mapping[str, Any], verdict: Judged, response: Mapping[str, Any]) -> None:
    """Hold the server's answer against the expectation and against the preview.

    Raises:
        NotAsShown: They differ.
    """
    patch = json.loads(b64decode(response.get("patch") or "W10="))
    said = "Denied" if not response["allowed"] else "Patched" if patch else "Unchanged"
    for name, want, got in (
        ("verdict", expected["verdict"], said),
        ("preview's verdict", said, verdict.verdict),
        ("preview's patch", patch, list(verdict.ops)),
        ("reason", expected.get("reason"), response.get("status", {}).get("reason")),
        ("selections", expected.get("selections", {}), _selections(verdict.after)),
        ("requests", expected.get("requests", {}), _requests(verdict.after, expected)),
    ):
        if want != got:
            raise NotAsShown(f"{expected['file']}: {name}: got {got}, want {want}")


def _selections(pod: Mapping[str, Any]) -> dict[str, str]:
    value = pod["metadata"]["annotations"].get(SELECTION_ANNOTATION, "[]")
    return {one["name"]: one["interface"] for one in json.loads(value)}


def _requests(pod: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: quantity
        for container in pod["spec"]["containers"]
        for name, quantity in container.get("resources", {}).get("requests", {}).items()
        if name in expected.get("requests", {})
    }


def _judged(expected: Mapping[str, Any], known: World) -> tuple[Judged, bytes]:
    """Return what the preview says of an example, and the review to send."""
    found = next(yaml.safe_load_all((EXAMPLES / "pods" / expected["file"]).read_text()))
    namespace = found["metadata"]["namespace"]
    (template,) = templates(found)
    title = f"{found['kind']} {namespace}/{found['metadata']['name']}"
    verdict = judge(template, title, namespace, known)
    pod = reviews.defaulted(template.pod, namespace)
    return verdict, reviews.review(pod, namespace, f"demo-{expected['file']}")


def show() -> None:
    """Ask about every example, check each answer, and show those that are to be shown."""
    paint = painter("auto", sys.stdout, os.environ)
    known = world.build((), EXAMPLES, "default", Rules())
    with running() as server:
        sys.stdout.write(f"rdma-webhook listens on 127.0.0.1:{server.port}\n\n")
        connection = http.client.HTTPSConnection(
            "127.0.0.1", server.port, context=server.trust, timeout=START_SECONDS
        )
        for expected in yaml.safe_load((HERE / "expected.yaml").read_text()):
            verdict, body = _judged(expected, known)
            check(expected, verdict, ask(connection, body))
            lines = list(report.block(verdict, known, paint))
            for line in lines if expected.get("shown") else lines[:2]:
                sys.stdout.write(f"{line}\n")
            sys.stdout.write("\n")
        connection.close()
    sys.stdout.write("every answer is as expected and as previewed; the server stopped with 0\n")


def main() -> int:
    """Show the demonstration; 1 if anything is not as shown."""
    started = time.monotonic()
    try:
        show()
    except (NotAsShown, OSError, http.client.HTTPException) as err:
        sys.stderr.write(f"demo: {err}\n")
        return 1
    sys.stdout.write(f"{time.monotonic() - started:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
