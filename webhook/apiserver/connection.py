"""Requests to the API server, and what its statuses and silences mean.

Knows aiohttp and an :class:`Access`; knows no kinds. Every failure is a CallFailed with a
sentence that a person can use.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from webhook.apiserver.access import Access, pod_access
from webhook.apiserver.depth import decoded
from webhook.apiserver.errors import (
    BrokenAnswer,
    Busy,
    CallFailed,
    Conflict,
    Expired,
    Forbidden,
    KindAbsent,
    NoCluster,
    Refused,
    Unauthorized,
    Unreachable,
)
from webhook.apiserver.kubeconfig import kubeconfig_access

CONNECT_SECONDS = 10.0
READ_BUFFER = 128 * 1024
"""Bytes. A streaming list fills it, twice over, while earlier objects are taken."""
MAX_TEXT = 300
CALL_SECONDS = 10.0
"""Silence within the answer to one call that means it is dead."""
JSON = "application/json"
TOO_LARGE_VERSION = "Too large resource version"


class Connection:
    """Requests to one API server."""

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
            CallFailed: Which kind says what to do.
        """
        return await self._open("GET", path, query, {"Accept": accept}, silence)

    async def call(
        self, method: str, path: str, query: Mapping[str, str], body: object = None, *, kind: str
    ) -> dict[str, Any]:
        """Return the object that the API server answers with.

        Args:
            method: GET, POST, PUT or PATCH.
            path: Of the URL, from the root.
            query: Parameters.
            body: What is sent, as JSON; None = nothing.
            kind: Content-Type of the body.

        Raises:
            CallFailed: Which kind says what to do; nothing says whether a write arrived.
        """
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Accept": JSON, "Content-Type": kind}
        try:
            async with await self._open(method, path, query, headers, CALL_SECONDS, data) as answer:
                return decoded(_decode_object, await answer.read())
        except msgspec.MsgspecError as err:
            raise BrokenAnswer(f"API server: {path}: {err}") from err
        except (aiohttp.ClientError, OSError) as err:
            raise Unreachable(f"API server: {path}: {explain(err)}") from err

    async def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        silence: float,
        data: bytes | None = None,
    ) -> aiohttp.ClientResponse:
        try:
            arguments = await self._access.arguments()
            arguments["headers"] = {**arguments["headers"], **headers}
            response = await self._session.request(
                method,
                self._access.base + path,
                params=query,
                data=data,
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=silence),
                **arguments,
            )
            if response.ok:
                return response
            async with response:
                text = _message(await response.read())
        except (aiohttp.ClientError, OSError, NoCluster) as err:
            raise Unreachable(f"API server: {path}: {explain(err)}") from err
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
    if kubeconfig is None:
        return Connection(pod_access(clock))
    return Connection(await kubeconfig_access(kubeconfig, clock))


def refusal(status: int, text: str, retry_after: str | None = None) -> CallFailed:
    """Return the error that a status, or the code of a Status object, stands for.

    Args:
        status: HTTP status or ``Status.code``.
        text: What the API server said.
        retry_after: The header; seconds, as Kubernetes writes it.
    """
    sentence = f"API server: {status}: {' '.join(text.split())}"
    if status == 410 or (status == 504 and TOO_LARGE_VERSION in text):  # noqa: PLR2004 - HTTP
        return Expired(sentence)
    known: dict[int, type[CallFailed]] = {
        400: Refused,
        401: Unauthorized,
        403: Forbidden,
        404: KindAbsent,
        409: Conflict,
        422: Refused,
    }
    if status in known:
        return known[status](sentence)
    seconds = float(retry_after) if retry_after and retry_after.strip().isdecimal() else 0.0
    return Busy(sentence, seconds)


def explain(err: Exception) -> str:
    """Return what happened to a connection, in words, without Python's."""
    match err:
        case aiohttp.ClientConnectorCertificateError():
            return f"certificate of {err.host}:{err.port}: {err.certificate_error}"
        case aiohttp.ClientConnectorError():
            reason = err.os_error.strerror or err.os_error
            return f"cannot connect to {err.host}:{err.port}: {reason}"
        case aiohttp.ClientPayloadError():
            return "the answer was cut off"
        case aiohttp.ServerDisconnectedError():
            return "the connection was closed"
        case TimeoutError():
            return "no answer in time"
    return " ".join(str(err).split()) or type(err).__name__


_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class _Status(msgspec.Struct):
    message: str


def _message(body: bytes) -> str:
    """Return the message of a Status object, or the body's text where it is none."""
    try:
        return msgspec.json.decode(body, type=_Status).message[:MAX_TEXT]
    except msgspec.MsgspecError:
        return body[:MAX_TEXT].decode("utf-8", "replace").strip()
