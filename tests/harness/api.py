"""A small JSON client for the API server, for where starting ``kubectl`` would be too slow."""

import http.client
import json
import queue
import ssl
from pathlib import Path
from typing import Any

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class ApiClient:
    """Requests over kept connections to one API server; safe to use from several threads."""

    def __init__(self, port: int, ca_file: Path, *, timeout: float = 30.0) -> None:
        """Trust the certificates in ``ca_file`` and talk to 127.0.0.1 at ``port``."""
        self._port = port
        self._timeout = timeout
        self._tls = ssl.create_default_context(cafile=str(ca_file))
        self._idle: queue.LifoQueue[http.client.HTTPSConnection] = queue.LifoQueue()

    def request(
        self, method: str, path: str, body: object = None, *, token: str, content_type: str = JSON
    ) -> tuple[int, Any]:
        """Return the status code and the parsed answer (text where it is no JSON).

        Args:
            method: HTTP method.
            path: Path with its query, from ``/``.
            body: What to send as JSON; bytes and text are sent as they are.
            token: Bearer token of the user.
            content_type: The patch type, for a PATCH.
        """
        data = _encode(body)
        headers = {"Authorization": f"Bearer {token}", "Accept": JSON}
        if data is not None:
            headers["Content-Type"] = content_type
        connection, is_kept = self._take()
        try:
            answer = self._send(connection, method, path, data, headers)
        except (ConnectionError, http.client.BadStatusLine):
            connection.close()
            if not is_kept:
                raise
            self.close()
            connection, _ = self._take()
            answer = self._send(connection, method, path, data, headers)
        return answer

    def close(self) -> None:
        """Close the idle connections; the client can still be used."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    def _take(self) -> tuple[http.client.HTTPSConnection, bool]:
        try:
            return self._idle.get_nowait(), True
        except queue.Empty:
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self._port, timeout=self._timeout, context=self._tls
            )
            return connection, False

    def _send(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        data: bytes | None,
        headers: dict[str, str],
    ) -> tuple[int, Any]:
        try:
            connection.request(method, path, body=data, headers=headers)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._idle.put(connection)
        return response.status, _decode(content)


def _encode(body: object) -> bytes | None:
    match body:
        case None:
            return None
        case bytes():
            return body
        case str():
            return body.encode()
        case _:
            return json.dumps(body).encode()


def _decode(content: bytes) -> Any:  # noqa: ANN401 - JSON is of any type
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
