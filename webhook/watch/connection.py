"""The way to the API server: where it is, who we are, and what its statuses mean.

Knows aiohttp, a pod's service account and kubeconfig files; knows no kinds. A pod's own
credentials are read here and not by kubernetes_asyncio, whose import costs 40 MB and half a
second; it is loaded for kubeconfig files alone, with their many ways to log in.
"""

import os
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import yaml

from webhook.watch.errors import (
    Busy,
    Expired,
    Forbidden,
    KindAbsent,
    NoCluster,
    StreamError,
    Unauthorized,
    Unreachable,
)

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_SECONDS = 60.0
"""The kubelet renews a token at 80 % of its life; reading it every minute is often enough."""
CONNECT_SECONDS = 10.0
READ_BUFFER = 1024 * 1024
BAD_SHAPE = (OSError, ValueError, TypeError, KeyError, AttributeError)
"""What kubernetes_asyncio raises for a kubeconfig that is no kubeconfig."""
TOO_LARGE_VERSION = "Too large resource version"


class Access(Protocol):
    """Where the API server is and what one request to it must carry."""

    base: str

    async def arguments(self) -> dict[str, Any]:
        """Return aiohttp's arguments for one request: headers, TLS, proxy."""
        ...

    async def reload(self) -> None:
        """Read the credentials again, because they were refused."""
        ...


class PodAccess:
    """A pod's own service account."""

    def __init__(
        self,
        environment: Mapping[str, str],
        clock: Callable[[], float],
        folder: Path = SERVICE_ACCOUNT,
    ) -> None:
        """Read token and CA.

        Raises:
            NoCluster: This is no pod, or it has no token.
        """
        host = environment.get("KUBERNETES_SERVICE_HOST")
        port = environment.get("KUBERNETES_SERVICE_PORT")
        if not (host and port):
            raise NoCluster(
                "no source of objects: give --from DIR or --kubeconfig FILE, or run in a pod"
            )
        self.base = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        self._folder = folder
        self._clock = clock
        self._read()

    async def arguments(self) -> dict[str, Any]:
        """Return the token, at most a minute old, and the TLS context."""
        if self._clock() - self._when >= TOKEN_SECONDS:
            self._read()
        return {"headers": {"Authorization": f"Bearer {self._token}"}, "ssl": self._context}

    async def reload(self) -> None:
        """Read token and CA again."""
        self._read()

    def _read(self) -> None:
        try:
            self._token = (self._folder / "token").read_text(encoding="ascii").strip()
            authority = (self._folder / "ca.crt").read_text(encoding="ascii")
            self._context = ssl.create_default_context(cadata=authority)
        except (OSError, ValueError) as err:
            raise NoCluster(f"{self._folder}: service account: cannot be read: {err}") from err
        self._when = self._clock()


class KubeconfigAccess:
    """A kubeconfig file, read by kubernetes_asyncio."""

    def __init__(self, path: Path) -> None:
        """Remember the path; :meth:`open` reads it."""
        self._path = path
        self.base = ""
        self._configuration: Any = None
        self._arguments: dict[str, Any] = {}

    async def open(self) -> "KubeconfigAccess":
        """Read the file and return this.

        Raises:
            NoCluster: The file cannot be used.
        """
        from kubernetes_asyncio.client import Configuration  # noqa: PLC0415 - 40 MB, see above

        self._configuration = Configuration()
        await self.reload()
        return self

    async def reload(self) -> None:
        """Read the file again; plugins log in again."""
        from kubernetes_asyncio import config  # noqa: PLC0415 - 40 MB, see above

        found = self._configuration
        try:
            if not self._path.is_file():
                raise NoCluster(f"--kubeconfig: {self._path}: no such file")
            await config.load_kube_config(
                config_file=str(self._path), client_configuration=found, persist_config=False
            )
            self.base = found.host.rstrip("/")
            self._arguments = _arguments(found)
        except (config.ConfigException, yaml.YAMLError, *BAD_SHAPE) as err:
            raise NoCluster(f"--kubeconfig: {self._path}: cannot be used: {err}") from err

    async def arguments(self) -> dict[str, Any]:
        """Return what the file says, with a fresh token."""
        token = await self._configuration.get_api_key_with_prefix("BearerToken")
        headers = {"Authorization": token} if token else {}
        if not token and self._configuration.username:
            headers = {"Authorization": self._configuration.get_basic_auth_token()}
        return {**self._arguments, "headers": headers}


class Connection:
    """GET requests to one API server, with its refusals as typed errors."""

    def __init__(self, access: Access) -> None:
        """Open a session; close it with :meth:`close`. Needs a running loop."""
        self._access = access
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            read_bufsize=READ_BUFFER,
            timeout=aiohttp.ClientTimeout(),
        )

    async def get(
        self, path: str, query: Mapping[str, str], accept: str, silence: float
    ) -> aiohttp.ClientResponse:
        """Return an answer of status 200, its body not read yet. Release it after use.

        Args:
            path: Of the URL, from the root.
            query: Parameters.
            accept: The Accept header.
            silence: Seconds between two pieces of the answer that mean it is dead.

        Raises:
            StreamError: Which kind says what to do.
        """
        try:
            arguments = await self._access.arguments()
            arguments["headers"] = {**arguments["headers"], "Accept": accept}
            response = await self._session.get(
                self._access.base + path,
                params=query,
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=silence),
                **arguments,
            )
            if response.status == 200:  # noqa: PLR2004 - OK
                return response
            async with response:
                text = (await response.text(errors="replace"))[:300]
        except (aiohttp.ClientError, TimeoutError, OSError, NoCluster) as err:
            raise Unreachable(f"API server: {path}: {err or type(err).__name__}") from err
        raise refusal(response.status, f"{path}: {text}", response.headers.get("Retry-After"))

    async def reload(self) -> None:
        """Read the credentials again, because they were refused; keep them where that fails."""
        try:
            await self._access.reload()
        except NoCluster as err:
            raise Unreachable(str(err)) from err

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()


async def connect(kubeconfig: Path | None, clock: Callable[[], float]) -> Connection:
    """Return a connection as a kubeconfig file says, or as a pod of the cluster.

    Raises:
        NoCluster: There is neither, or it cannot be used.
    """
    access: Access
    if kubeconfig is None:
        access = PodAccess(os.environ, clock)
    else:
        access = await KubeconfigAccess(kubeconfig).open()
    return Connection(access)


def refusal(status: int, text: str, retry_after: str | None = None) -> StreamError:
    """Return the error that a status, or the code of a Status object, stands for.

    Args:
        status: HTTP status or ``Status.code``.
        text: What the API server said.
        retry_after: The header; seconds, as Kubernetes writes it.
    """
    sentence = f"API server: {status}: {' '.join(text.split())}"
    if status == 410 or (status == 504 and TOO_LARGE_VERSION in text):  # noqa: PLR2004 - HTTP
        return Expired(sentence)
    known: dict[int, type[StreamError]] = {401: Unauthorized, 403: Forbidden, 404: KindAbsent}
    if status in known:
        return known[status](sentence)
    seconds = float(retry_after) if retry_after and retry_after.strip().isdecimal() else 0.0
    return Busy(sentence, seconds)


def _arguments(configuration: Any) -> dict[str, Any]:  # noqa: ANN401 - untyped library
    """Return aiohttp's arguments for TLS and proxy; kubernetes_asyncio's client makes the same."""
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file)
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    found: dict[str, Any] = {"ssl": context}
    if configuration.tls_server_name:
        found["server_hostname"] = configuration.tls_server_name
    if configuration.proxy:
        found["proxy"] = configuration.proxy
    return found
