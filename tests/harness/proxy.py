"""A TCP proxy on loopback that can hold what it carries, or break it: the network between parts.

Held, it neither forwards nor closes: what both ends see of a half-open connection.
"""

import contextlib
import socket
import threading

from tests.harness.lifetime import Started

PIECE = 65536
LOOPBACK = "127.0.0.1"


class Proxy(Started):
    """Carries connections to one port of this machine.

    Attributes:
        port: Where it listens, on 127.0.0.1.
    """

    def __init__(self, target: int) -> None:
        """Describe it; nothing listens before :meth:`start`."""
        self.port = 0
        self._target = target
        self._flows = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.socket()

    def start(self) -> None:
        """Listen on a free port."""
        self._listener.bind((LOOPBACK, 0))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        self._flows.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Close everything."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self._flows.set()

    def hold(self) -> None:
        """Carry nothing from now on; connections stay open, and new ones are taken."""
        self._flows.clear()

    def release(self) -> None:
        """Carry again, also what came meanwhile."""
        self._flows.set()

    def cut(self) -> None:
        """Break every open connection; new ones are taken."""
        with self._lock:
            broken, self._open = self._open, set()
        for one in broken:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener was closed
            while True:
                near, _ = self._listener.accept()
                with self._lock:
                    self._open.add(near)
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        self._flows.wait()
        try:
            far = socket.create_connection((LOOPBACK, self._target))
        except OSError:
            self._close(near)
            return
        with self._lock:
            is_cut = near not in self._open
            self._open.add(far)
        if is_cut:
            self._close(far)
            return
        threading.Thread(target=self._pump, args=(far, near), daemon=True).start()
        self._pump(near, far)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                self._flows.wait()
                sink.sendall(piece)
        self._close(source)
        self._close(sink)

    def _close(self, one: socket.socket) -> None:
        with self._lock:
            self._open.discard(one)
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
