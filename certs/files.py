"""A pair that someone else keeps on disk, and the CA bundle that we put there.

Knows files; judges no certificate. A pair is read again when either file's identity, size or
time of change differs, through symbolic links: the kubelet swaps a whole folder by one link.
"""

import contextlib
import os
import tempfile
from pathlib import Path

from certs.errors import UnreadablePair, UnwritableBundle
from certs.keypair import KeyPair

BUNDLE_MODE = 0o644
ATTEMPTS = 3
"""How often a pair is read again because it changed under our hands."""

Mark = tuple[tuple[int, int, int, int], ...]
"""Device, inode, size and time of change of each file."""


class PairFiles:
    """A certificate file and a key file."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Remember the two paths; nothing is read yet."""
        self._certificate = certificate
        self._key = key
        self._mark: Mark | None = None

    def __str__(self) -> str:
        """Return how messages name this pair: its certificate's path."""
        return str(self._certificate)

    def is_changed(self) -> bool:
        """Tell whether the files differ from what :meth:`read` last saw; true before that.

        Files that are away for the moment count as changed: reading them says why.
        """
        try:
            return self._look() != self._mark
        except UnreadablePair:
            return True

    def read(self) -> KeyPair:
        """Return the pair that is in the files now.

        Raises:
            UnreadablePair: A file is absent or cannot be read.
            MalformedPair: A file is no PEM.
            MismatchedPair: Certificate and key do not belong together.
        """
        for _ in range(ATTEMPTS):
            self._mark = self._look()
            chain, key = _read(self._certificate), _read(self._key)
            if self._look() == self._mark:
                break
        return KeyPair.parse(chain, key, str(self._certificate), str(self._key))

    def _look(self) -> Mark:
        return tuple(_identity(path) for path in (self._certificate, self._key))


def write_bundle(path: Path, bundle: bytes) -> None:
    """Write certificates for who registers the webhook by hand; readers see all or nothing.

    Raises:
        UnwritableBundle: The file cannot be written there.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as err:
        raise UnwritableBundle(f"{path}: CA bundle: cannot be written: {err.strerror}") from err
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(bundle)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(BUNDLE_MODE)
        Path(temporary).replace(path)
    except OSError as err:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise UnwritableBundle(f"{path}: CA bundle: cannot be written: {err.strerror}") from err


def _identity(path: Path) -> tuple[int, int, int, int]:
    try:
        found = path.stat()
    except OSError as err:
        raise UnreadablePair(f"{path}: cannot be read: {err.strerror}") from err
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as err:
        raise UnreadablePair(f"{path}: cannot be read: {err.strerror}") from err
