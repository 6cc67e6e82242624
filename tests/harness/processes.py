"""Long-running programs of the harness: started in groups of their own, always ended again.

Each program is the leader of a new process group, and only those groups are ever signalled. A
guard (a small shell) ends them too if the test process dies without saying so.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

LOG_TAIL_LINES = 25
STOP_SECONDS = 10.0

GUARD = """
read -r _ && exit 0
for pid in "$1"/pids/*; do [ -e "$pid" ] && kill -s KILL -- "-${pid##*/}" 2>/dev/null; done
rm -rf -- "$1"
"""
"""Waits on its standard input: a line means all is in order, its end means the tests died."""


class ProcessFailed(Exception):
    """A program of the harness ended, or could not start; the message has its last log lines."""


class Processes:
    """A temporary folder and the programs that live in it.

    Attributes:
        folder: Temporary; the logs are in it as ``<name>.log``. Removed by :meth:`close`.
    """

    def __init__(self, prefix: str) -> None:
        """Make the folder and start the guard."""
        self.folder = Path(tempfile.mkdtemp(prefix=prefix))
        self._pids = self.folder / "pids"
        self._pids.mkdir()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> int:
        """Start a program under a name that is free, and return its process id."""
        if name in self._running:
            raise ProcessFailed(f"{name} is already running")
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=pass_fds,
                start_new_session=True,
            )
        (self._pids / str(process.pid)).touch()
        self._running[name] = process
        return process.pid

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End a program, politely at first; do nothing where it is not running."""
        process = self._running.pop(name, None)
        if process is None:
            return
        _signal_group(process.pid, signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
        (self._pids / str(process.pid)).unlink(missing_ok=True)

    def wait(self, name: str, timeout: float = STOP_SECONDS) -> int:
        """Return the exit code of a program that ends by itself, negative after a signal.

        Raises:
            ProcessFailed: It has not ended in time, and goes on.
        """
        try:
            code = self._running[name].wait(timeout=timeout)
        except subprocess.TimeoutExpired as err:
            raise ProcessFailed(
                f"{name} runs on after {timeout:g} s; its last lines:\n{self.tail(name)}"
            ) from err
        (self._pids / str(self._running.pop(name).pid)).unlink(missing_ok=True)
        return code

    def pid(self, name: str) -> int:
        """Return the process id of a running program."""
        return self._running[name].pid

    def is_running(self, name: str) -> bool:
        """Tell whether the program was started and has not ended."""
        return name in self._running and self._running[name].poll() is None

    def check(self, name: str) -> None:
        """Do nothing while the program runs.

        Raises:
            ProcessFailed: It has ended; the message holds its last lines.
        """
        process = self._running.get(name)
        status = None if process is None else process.poll()
        if process is None or status is not None:
            raise ProcessFailed(f"{name} ended (exit {status}); its last lines:\n{self.tail(name)}")

    def log(self, name: str) -> Path:
        """Return the file that the program's output goes to."""
        return self.folder / f"{name}.log"

    def tail(self, name: str, lines: int = LOG_TAIL_LINES) -> str:
        """Return the last lines the program wrote."""
        with contextlib.suppress(FileNotFoundError):
            return "\n".join(self.log(name).read_text(errors="replace").splitlines()[-lines:])
        return ""

    def close(self) -> None:
        """End every program, the last started first, then the guard, and remove the folder."""
        for name in reversed(list(self._running)):
            self.stop(name, kill=True)
        self._guard.communicate(b"in order\n")
        shutil.rmtree(self.folder, ignore_errors=True)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)
