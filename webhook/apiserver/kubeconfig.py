"""Kubeconfig files: plain ones read here, all others by kubernetes_asyncio.

Plain is: a token, a token file, a client certificate in files, or no user at all. Everything
else (login plugins, passwords, certificates inside the file) is the library's business.
"""

import base64
import binascii
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from webhook.apiserver.access import Access, Login, PlainAccess
from webhook.apiserver.errors import NoCluster

PLAIN_USER = frozenset({"token", "tokenFile", "client-certificate", "client-key"})
WANTED = "it is no kubeconfig, which has clusters, contexts and users"
BAD_SHAPE = (OSError, ValueError, TypeError, KeyError, AttributeError)
"""What a file that is no kubeconfig leads to, here and in kubernetes_asyncio."""


async def kubeconfig_access(path: Path, clock: Callable[[], float]) -> Access:
    """Return the access that a file's current context describes.

    Raises:
        NoCluster: The file cannot be used.
    """
    _, user = _current(path)
    if set(user) <= PLAIN_USER:
        return PlainAccess(partial(plain_login, path), clock)
    access = LibraryAccess(path)
    await access.reload()
    return access


def plain_login(path: Path) -> Login:
    """Return the credentials of a plain kubeconfig.

    Raises:
        NoCluster: The file cannot be used.
    """
    cluster, user = _current(path)
    try:
        return Login(
            base=str(cluster["server"]).rstrip("/"),
            token=_token(path, user),
            authority=_authority(path, cluster),
            certificate=_beside(path, user.get("client-certificate")),
            key=_beside(path, user.get("client-key")),
            server_name=str(cluster.get("tls-server-name") or ""),
            proxy=str(cluster.get("proxy-url") or ""),
            is_insecure=cluster.get("insecure-skip-tls-verify") is True,
        )
    except (*BAD_SHAPE, binascii.Error) as err:
        raise _unusable(path, err) from err


class LibraryAccess:
    """A kubeconfig as kubernetes_asyncio reads it."""

    def __init__(self, path: Path) -> None:
        """Remember the path; :meth:`reload` reads it."""
        from kubernetes_asyncio.client import Configuration  # noqa: PLC0415 - 40 MB, see above

        self.base = ""
        self._path = path
        self._configuration: Any = Configuration()
        self._arguments: dict[str, Any] = {}

    async def arguments(self) -> dict[str, Any]:
        """Return what the file says."""
        token = await self._configuration.get_api_key_with_prefix("BearerToken")
        headers = {"Authorization": token} if token else {}
        if not token and self._configuration.username:
            headers = {"Authorization": self._configuration.get_basic_auth_token()}
        return {**self._arguments, "headers": headers}

    async def reload(self) -> None:
        """Read the file again; plugins log in again."""
        from kubernetes_asyncio import config  # noqa: PLC0415 - 40 MB, see above

        found = self._configuration
        try:
            await config.load_kube_config(
                config_file=str(self._path), client_configuration=found, persist_config=False
            )
            self.base = found.host.rstrip("/")
            self._arguments = _arguments(found)
        except (config.ConfigException, *BAD_SHAPE) as err:
            raise _unusable(self._path, err) from err


def _current(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return cluster and user of the current context."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise TypeError(WANTED)
        context = _named(content["contexts"], content["current-context"])["context"]
        cluster = _named(content["clusters"], context["cluster"])["cluster"]
        user = context.get("user")
        found = (_named(content["users"], user).get("user") if user else None) or {}
    except (*BAD_SHAPE, yaml.YAMLError, StopIteration) as err:
        raise _unusable(path, err) from err
    return cluster, found


def _named(entries: Any, name: str) -> Mapping[str, Any]:  # noqa: ANN401 - from YAML
    for entry in entries:
        if entry["name"] == name:
            found: Mapping[str, Any] = entry
            return found
    raise ValueError(f"nothing is called {name}")


def _token(path: Path, user: Mapping[str, Any]) -> str:
    file = _beside(path, user.get("tokenFile"))
    return Path(file).read_text(encoding="ascii").strip() if file else str(user.get("token") or "")


def _authority(path: Path, cluster: Mapping[str, Any]) -> str:
    if cluster.get("certificate-authority-data"):
        return base64.b64decode(cluster["certificate-authority-data"]).decode("ascii")
    file = _beside(path, cluster.get("certificate-authority"))
    return Path(file).read_text(encoding="ascii") if file else ""


def _beside(path: Path, name: object) -> str:
    """Return a path that a kubeconfig names: relative ones begin at its own folder."""
    return str(path.parent / str(name)) if name else ""


def _unusable(path: Path, err: Exception) -> NoCluster:
    reason = " ".join(str(err).split())
    if isinstance(err, FileNotFoundError) and err.filename == str(path):
        return NoCluster(f"--kubeconfig: {path}: no such file")
    if isinstance(err, KeyError):
        reason = f"{reason} is missing"
    if isinstance(err, TypeError | AttributeError):
        reason = WANTED
    return NoCluster(f"--kubeconfig: {path}: cannot be used: {reason or type(err).__name__}")


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
