"""Where the API server is, who we are there, and what a request must carry.

Knows credentials and TLS; knows no requests. Plain credentials (a pod's service account, a
kubeconfig with a token or files) are read here: importing kubernetes_asyncio costs 40 MB and
half a second, so it is asked only for what needs it, such as login plugins.
"""

import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

from webhook.apiserver.errors import NoCluster

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
FRESH_SECONDS = 60.0
"""The kubelet renews a token at 80 % of its life; reading it every minute is often enough."""


class Access(Protocol):
    """Where the API server is and what one request to it must carry."""

    @property
    def base(self) -> str:
        """Return the URL of the API server."""
        ...

    async def arguments(self) -> dict[str, Any]:
        """Return aiohttp's arguments for one request: headers, TLS, proxy."""
        ...

    async def reload(self) -> None:
        """Read the credentials again, because they were refused."""
        ...


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials as plain values.

    Attributes:
        base: URL of the API server.
        token: Bearer token; empty = none.
        authority: PEM of the CAs to trust; empty = the system's.
        certificate: Path of a client certificate; empty = none.
        key: Path of its key.
        server_name: Name to expect in the server's certificate; empty = the URL's.
        proxy: URL of a proxy; empty = none.
        is_insecure: Whether any server certificate will do.
    """

    base: str
    token: str = ""
    authority: str = ""
    certificate: str = ""
    key: str = ""
    server_name: str = ""
    proxy: str = ""
    is_insecure: bool = False

    def __repr__(self) -> str:
        """Return the address alone; the rest is secret."""
        return f"Login({self.base!r})"


class PlainAccess:
    """Credentials that are read from files, and again once a minute."""

    def __init__(self, read: Callable[[], Login], clock: Callable[[], float]) -> None:
        """Read them for the first time.

        Args:
            read: Returns them, or raises NoCluster.
            clock: Seconds, never going back.

        Raises:
            NoCluster: They cannot be read.
        """
        self._read = read
        self._clock = clock
        self._refresh()

    @property
    def base(self) -> str:
        """Return the URL of the API server."""
        return self._login.base

    async def arguments(self) -> dict[str, Any]:
        """Return what a request carries, at most a minute old."""
        if self._clock() - self._when >= FRESH_SECONDS:
            self._refresh()
        login = self._login
        found: dict[str, Any] = {"headers": {}, "ssl": _context(login)}
        if login.token:
            found["headers"]["Authorization"] = f"Bearer {login.token}"
        if login.server_name:
            found["server_hostname"] = login.server_name
        if login.proxy:
            found["proxy"] = login.proxy
        return found

    async def reload(self) -> None:
        """Read them again now."""
        _context.cache_clear()
        self._refresh()

    def _refresh(self) -> None:
        self._login = self._read()
        self._when = self._clock()


def pod_login(environment: Mapping[str, str], folder: Path) -> Login:
    """Return the credentials of a pod's service account.

    Raises:
        NoCluster: This is no pod, or it has no token.
    """
    host = environment.get("KUBERNETES_SERVICE_HOST")
    port = environment.get("KUBERNETES_SERVICE_PORT")
    if not (host and port):
        raise NoCluster(
            "no source of objects: give --from DIR or --kubeconfig FILE, or run in a pod"
        )
    try:
        token = (folder / "token").read_text(encoding="ascii").strip()
        authority = (folder / "ca.crt").read_text(encoding="ascii")
    except (OSError, ValueError) as err:
        raise NoCluster(f"{folder}: service account: cannot be read: {err}") from err
    base = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Login(base=base, token=token, authority=authority)


def pod_access(
    clock: Callable[[], float],
    environment: Mapping[str, str] = os.environ,
    folder: Path = SERVICE_ACCOUNT,
) -> PlainAccess:
    """Return the access of a pod.

    Raises:
        NoCluster: This is no pod, or it has no token.
    """
    return PlainAccess(partial(pod_login, environment, folder), clock)


@lru_cache(maxsize=2)
def _context(login: Login) -> ssl.SSLContext:
    """Return the TLS side of a login; one context while nothing changes keeps connections open."""
    try:
        context = ssl.create_default_context(cadata=login.authority or None)
        if login.certificate:
            context.load_cert_chain(login.certificate, login.key)
    except (OSError, ValueError) as err:
        raise NoCluster(f"{login.base}: TLS credentials: cannot be used: {err}") from err
    if login.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
