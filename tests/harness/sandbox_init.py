"""First process of a sandbox: makes its view of the disk, then waits until the test is over.

Started by :mod:`tests.harness.sandbox` inside fresh mount and network namespaces, as a script
with the standard library alone. Arguments: the number of an inherited socket, and the port on
which to take connections for the API server.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OWN_FOLDERS = {
    "/var/lib": ("cni/multus", "cni/networks", "kubelet/device-plugins"),
    "/run": ("netns", "k8s.cni.cncf.io"),
}
"""Folders that the sandbox has for itself, by the folder that they are in."""


def shadow(folder: Path, own: tuple[str, ...]) -> None:
    """Replace a folder by one in memory: all that was in it, but ``own`` empty and private.

    Nothing is made on the disk, not even a folder to mount on: the real one is reached by an
    open descriptor once it is covered.
    """
    covered = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    entries = [entry.name for entry in folder.iterdir()]
    run("mount", "-t", "tmpfs", "-o", "mode=755", "sandbox", str(folder))
    real = folder / ".real"
    real.mkdir()
    source = f"/proc/self/fd/{covered}"
    run("mount", "--no-canonicalize", "--rbind", source, str(real), pass_fds=[covered])
    os.close(covered)
    for name in own:
        (folder / name).mkdir(parents=True)
    for entry in entries:
        if not (folder / entry).exists():
            (folder / entry).symlink_to(real / entry)


def run(*command: str, pass_fds: Sequence[int] = ()) -> None:
    """Run a command that must work."""
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, pass_fds=pass_fds)


def main() -> None:
    """Set up, send the listening socket to the parent, and stay until the parent is gone."""
    descriptor, port = int(sys.argv[1]), int(sys.argv[2])
    for path, own in OWN_FOLDERS.items():
        shadow(Path(path), own)
    run("ip", "link", "set", "lo", "up")
    with (
        socket.socket(fileno=descriptor) as parent,
        socket.create_server(("127.0.0.1", port), backlog=64) as listener,
    ):
        socket.send_fds(parent, [b"ready"], [listener.fileno()])
        parent.recv(1)


if __name__ == "__main__":
    main()
