"""A machine of its own for the data plane: mount and network namespaces that vanish with it.

Bridges, rails, pods' namespaces and the kubelet's folders are made in here, so nothing on the
host is touched, several can run at once, and a test that is killed leaves nothing behind. The
API server, which listens on the host's loopback, is reached at the same address from inside.
"""

import contextlib
import selectors
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.lifetime import Started
from tests.harness.processes import Processes

START_SECONDS = 20.0
COMMAND_SECONDS = 60.0
PUMP_BYTES = 65_536
INIT = Path(__file__).with_name("sandbox_init.py")
INIT_NAME = "init"


class SandboxError(Exception):
    """The sandbox could not be made, or a command in it failed."""


class Sandbox(Started):
    """Fresh mount and network namespaces; a context manager, or :meth:`start` and :meth:`stop`.

    Needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN).
    """

    def __init__(self, api_port: int) -> None:
        """Describe a sandbox in which 127.0.0.1 at ``api_port`` is the host's."""
        self._api_port = api_port
        self._processes: Processes | None = None
        self._control: socket.socket | None = None
        self._relay: _Relay | None = None

    @property
    def folder(self) -> Path:
        """A temporary folder that both sides see at the same path."""
        return self._running.folder

    def start(self) -> None:
        """Make the namespaces and return when commands can run in them.

        Raises:
            SandboxError: With what the first process wrote.
        """
        self._processes = Processes("rdma-sandbox-")
        try:
            self._start_init(self._processes)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the sandbox; the kernel removes all that was made in it."""
        if self._relay is not None:
            self._relay.stop()
            self._relay = None
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._processes is not None:
            self._processes.close()
            self._processes = None

    def run(
        self,
        *command: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Return the outcome of a command run inside.

        Args:
            command: Program and arguments.
            stdin: What it reads.
            env: Its whole environment; by default that of the tests.
            check: Raise where it fails.

        Raises:
            SandboxError: It failed, and ``check`` is true.
        """
        done = subprocess.run(
            [*self._enter(), *command],
            input=stdin,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_SECONDS,
        )
        if check and done.returncode != 0:
            text = (done.stderr + done.stdout).strip()
            msg = f"{' '.join(command)}: exit {done.returncode}: {text}"
            raise SandboxError(msg)
        return done

    def write(self, path: str, text: str) -> None:
        """Write a file as the sandbox sees the path; it appears whole."""
        script = 'cat > "$1.part" && mv "$1.part" "$1"'
        self.run("/bin/sh", "-c", script, "write", path, stdin=text)

    @property
    def _running(self) -> Processes:
        if self._processes is None:
            raise SandboxError("the sandbox is not started")
        return self._processes

    def _enter(self) -> Sequence[str]:
        pid = self._running.pid(INIT_NAME)
        return ["nsenter", "--target", str(pid), "--mount", "--net", "--"]

    def _start_init(self, processes: Processes) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        namespaces = ["unshare", "--mount", "--net", "--propagation", "private"]
        script = [sys.executable, "-I", "-S", str(INIT)]
        with theirs:
            descriptor = theirs.fileno()
            arguments = [str(descriptor), str(self._api_port)]
            processes.start(INIT_NAME, [*namespaces, *script, *arguments], pass_fds=[descriptor])
        listener = _receive_listener(self._control)
        if listener is None:
            said = processes.tail(INIT_NAME)
            raise SandboxError(f"the sandbox did not start (it needs root): {said}")
        self._relay = _Relay(listener, self._api_port)


def _receive_listener(control: socket.socket) -> socket.socket | None:
    """Return the socket on which the sandbox takes connections, or None where it has ended."""
    try:
        message, descriptors, _, _ = socket.recv_fds(control, 16, 1)
    except (TimeoutError, ConnectionError):
        return None
    return socket.socket(fileno=descriptors[0]) if message == b"ready" else None


class _Relay:
    """Connects whoever asks inside the sandbox with the same port of the host."""

    def __init__(self, listener: socket.socket, port: int) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                # An API server that is down is a closed connection to the one who asks.
                with (
                    contextlib.suppress(OSError),
                    socket.create_connection(("127.0.0.1", port)) as server,
                ):
                    _pump(self.request, server)

        self._server = socketserver.ThreadingTCPServer(
            ("127.0.0.1", port), Handler, bind_and_activate=False
        )
        self._server.socket.close()
        self._server.socket = listener
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Copy what either side sends to the other, until one of them ends."""
    with selectors.DefaultSelector() as selector:
        selector.register(one, selectors.EVENT_READ, other)
        selector.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in selector.select():
                source, target = key.fileobj, key.data
                assert isinstance(source, socket.socket)
                data = source.recv(PUMP_BYTES)
                if not data:
                    return
                target.sendall(data)
