"""A service that runs as a process of its own."""

import json
import logging
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

STOP_SECONDS = 30


class Service:
    """``rdma-webhook serve`` on free ports of loopback.

    Attributes:
        lines: Log lines read so far.
        folder: Where its objects are.
    """

    def __init__(self, folder: Path, *flags: str) -> None:
        """Start it and wait until it listens."""
        self.folder = folder
        self.ca = folder.parent / "ca.bundle"
        self.lines: list[dict[str, Any]] = []
        base = ("--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "webhook", "serve", *base, *flags],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.listening = self.until("listening")

    def until(self, event: str) -> dict[str, Any]:
        """Return the next log line of an event; fail where the process ends before."""
        assert self.process.stderr is not None
        for text in self.process.stderr:
            line: dict[str, Any] = json.loads(text)
            self.lines.append(line)
            if line["event"] == event:
                return line
        raise AssertionError(f"no {event}; it said {self.lines}")

    @property
    def base(self) -> str:
        """Return the address of the TLS port."""
        return f"https://127.0.0.1:{self.listening['port']}"

    @property
    def probe(self) -> str:
        """Return the address of the probe port."""
        return f"http://127.0.0.1:{self.listening['probe_port']}"

    @property
    def trust(self) -> ssl.SSLContext:
        """Return a client context that trusts what it wrote to --ca-file."""
        return ssl.create_default_context(cafile=str(self.ca))

    def stop(self, *signals: signal.Signals) -> int:
        """Send signals, wait for the end and return the exit code."""
        for one in signals or (signal.SIGTERM,):
            self.process.send_signal(one)
        assert self.process.stderr is not None
        self.lines += [json.loads(text) for text in self.process.stderr]
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it now, whether it runs or not."""
        self.process.kill()
        self.process.wait(STOP_SECONDS)
        if self.process.stderr is not None:
            self.process.stderr.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder for objects."""
    found = tmp_path / "objects"
    found.mkdir()
    return found


@pytest.fixture
def service(folder: Path) -> Iterator[Service]:
    """Return a running service that drains for no time."""
    found = Service(
        folder,
        *("--from", str(folder), "--ca-file", str(folder.parent / "ca.bundle")),
        *("--drain-seconds", "0"),
    )
    yield found
    found.kill()


@pytest.fixture
def _restored_logging() -> Iterator[None]:
    """Leave logging as it was found."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = True
