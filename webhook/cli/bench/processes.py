"""Processes under measurement: started, pinned to a processor, read and stopped by their id.

Knows Linux's ``/proc``; where there is none, processor time and memory are None.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from webhook.cli.bench.client import Load, Result

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
LOAD_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.005
_FIELDS_BEFORE_TIMES: Final = 11
"""Fields of ``/proc/PID/stat`` between the command and utime (proc(5))."""


class BenchFailed(Exception):
    """A process under measurement did not do what it should; one sentence."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Attributes:
        pid: Its process.
        port: Where it answers.
        bundle: File with its authority.
        ready: Seconds from start until it said ``ready``.
        synced: Seconds from ``listening`` to ``ready``; within it, objects are read.
    """

    pid: int
    port: int
    bundle: Path
    ready: float
    synced: float

    def cpu_seconds(self) -> float | None:
        """Return the processor time it has used."""
        text = _read(f"/proc/{self.pid}/stat")
        if text is None:
            return None
        fields = text.rpartition(")")[2].split()
        ticks = sum(map(int, fields[_FIELDS_BEFORE_TIMES : _FIELDS_BEFORE_TIMES + 2]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float | None:
        """Return its resident memory."""
        return megabytes(str(self.pid))


def megabytes(process: str = "self") -> float | None:
    """Return the resident memory of a process, by id; None where the system does not say."""
    text = _read(f"/proc/{process}/statm")
    return None if text is None else int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return None


@contextlib.contextmanager
def serving(
    arguments: Sequence[str], folder: Path, name: str, processor: int = 0
) -> Iterator[Server]:
    """Run a Python module as a server until the block ends.

    Args:
        arguments: Module and its arguments; ``{bundle}`` stands for the authority's file.
        folder: For its log and its authority's file.
        name: Of these files.
        processor: To run on, as :func:`pin` counts them.

    Raises:
        BenchFailed: It does not start, or does not stop.
    """
    bundle, log = folder / f"{name}.pem", folder / f"{name}.log"
    command = [sys.executable, "-m", *(one.format(bundle=bundle) for one in arguments)]
    started = time.monotonic()
    with log.open("wb") as said:
        process = subprocess.Popen(command, stderr=said, stdout=subprocess.DEVNULL)  # noqa: S603
    pin(process.pid, processor)
    try:
        port = _event(process, log, "listening")["port"]
        listening = time.monotonic()
        _event(process, log, "ready")
        ready = time.monotonic()
        yield Server(process.pid, port, bundle, ready - started, ready - listening)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def load(what: Load) -> Result:
    """Put a load on a server from another process and processor, and return what came back.

    Raises:
        BenchFailed: The load broke off, or an answer was not what was wanted.
    """
    command = [sys.executable, "-m", "webhook.cli.bench.client", json.dumps(asdict(what))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603
    pin(process.pid, 1)
    out, err = process.communicate(timeout=LOAD_SECONDS)
    if process.returncode:
        last = err.decode().strip().rpartition("\n")[2]
        raise BenchFailed(f"the load on port {what.port} broke off: {last}")
    result = Result(**json.loads(out))
    if result.failed:
        raise BenchFailed(f"{result.failed} of {what.requests} answers were not as wanted")
    return result


def measured(module: str, *arguments: str) -> dict[str, Any]:
    """Return the JSON that a module prints, run in a process of its own.

    Raises:
        BenchFailed: It ended with an error.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, check=False, timeout=LOAD_SECONDS)  # noqa: S603
    if done.returncode:
        last = done.stderr.decode().strip().rpartition("\n")[2]
        raise BenchFailed(f"{module} ended with code {done.returncode}: {last}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def pin(pid: int, processor: int) -> None:
    """Keep a process on one processor, where the system lets us and has several."""
    with contextlib.suppress(AttributeError, OSError):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(pid, {allowed[processor % len(allowed)]})


def _event(process: subprocess.Popen[bytes], log: Path, event: str) -> dict[str, Any]:
    """Wait for a log line and return its fields."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n") and f'"event":"{event}"' in line:
                fields: dict[str, Any] = json.loads(line)
                return fields
        time.sleep(_LOOK_SECONDS)
    raise BenchFailed(f"{' '.join(map(str, process.args))} never said {event}")  # type: ignore[arg-type]
