"""A pair made in memory by an authority of our own, renewed before it ends.

Knows names and time. For trying, testing and registering by hand: the authority lives as long
as the process.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from certs.authority import make_authority, sign_leaf
from certs.keypair import KeyPair
from certs.validity import is_due

AUTHORITY_NAME = "rdma-webhook"


class GeneratedPair:
    """Serving certificates for fixed names, each signed by the same authority."""

    def __init__(self, names: Sequence[str], now: Callable[[], datetime]) -> None:
        """Make the authority.

        Args:
            names: DNS names and IP addresses that clients will use.
            now: The clock; aware, UTC.
        """
        self._names = tuple(names)
        self._now = now
        self._authority = make_authority(AUTHORITY_NAME, now())
        self._leaf: KeyPair | None = None

    def __str__(self) -> str:
        """Return how messages name this pair."""
        return "generated certificate"

    @property
    def bundle(self) -> bytes:
        """PEM of the authority: what a client must trust."""
        return self._authority.chain

    def is_changed(self) -> bool:
        """Tell whether a new leaf is due; true before the first."""
        return self._leaf is None or is_due(self._leaf, self._now())

    def read(self) -> KeyPair:
        """Sign and return a new leaf."""
        self._leaf = sign_leaf(self._authority, self._names, self._now())
        return self._leaf


def names_for(service: str, namespace: str) -> tuple[str, ...]:
    """Return the names a webhook of this Service is called by, and those of this machine.

    The API server calls ``<service>.<namespace>.svc``; the others are for people.
    """
    host = f"{service}.{namespace}"
    return (f"{host}.svc", f"{host}.svc.cluster.local", host, "localhost", "127.0.0.1", "::1")
