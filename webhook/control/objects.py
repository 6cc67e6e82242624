"""Our objects and events, as the controller reads and writes them through the API server."""

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from policies import names
from webhook.apiserver.connection import JSON, Connection
from webhook.apiserver.errors import BrokenAnswer
from webhook.apiserver.kinds import BY_NAME
from webhook.control.keys import Key

APPLY = "application/apply-patch+yaml"
"""Server-side apply; JSON is YAML."""
MANAGER = "rdma-webhook"
"""Our field manager."""
EVENTS = "events.k8s.io/v1"
LONGEST_NOTE = 1024
"""Characters of an event's note (kubernetes/api ``events/v1``)."""


class Objects:
    """Reads objects, applies their status, and tells events."""

    def __init__(self, connection: Connection, identity: str, wall: Callable[[], datetime]) -> None:
        """Join the parts.

        Args:
            connection: The way to the API server.
            identity: Who we are, for events.
            wall: Current time, with its zone.
        """
        self._connection = connection
        self._identity = identity
        self._wall = wall

    async def read(self, key: Key) -> dict[str, Any]:
        """Return an object as it is now.

        Raises:
            CallFailed: KindAbsent where it is gone.
        """
        path = BY_NAME[key.kind].path(key.namespace, key.name)
        found = await self._connection.call("GET", path, {}, kind=JSON)
        if not isinstance(found.get("metadata"), dict):
            raise BrokenAnswer(f"API server: {path}: an object without metadata")
        return found

    async def apply_status(self, key: Key, found: Mapping[str, Any], status: object) -> None:
        """Make a status of an object ours.

        Args:
            key: Which.
            found: The object as it was read; one of the same name made since is left alone.
            status: All that we say; what we said before and do not say now goes.

        Raises:
            CallFailed: Conflict where the object is another one now.
        """
        kind = BY_NAME[key.kind]
        place = {"name": key.name, "namespace": key.namespace, "uid": found["metadata"].get("uid")}
        body = {
            "apiVersion": kind.api_version,
            "kind": key.kind,
            "metadata": {name: value for name, value in place.items() if value},
            "status": status,
        }
        query = {"fieldManager": MANAGER, "force": "true"}
        path = f"{kind.path(key.namespace, key.name)}/status"
        await self._connection.call("PATCH", path, query, body, kind=APPLY)

    async def tell(self, key: Key, uid: str, reason: str, note: str) -> None:
        """Write an event about an object of ours, beside it in its namespace.

        Args:
            key: The object, in a namespace; it may be gone.
            uid: Its own; empty where not known.
            reason: CamelCase.
            note: A sentence.

        Raises:
            CallFailed: It could not be written.
        """
        now = self.now(micro=True)
        body = {
            "apiVersion": EVENTS,
            "kind": "Event",
            "metadata": {
                "name": f"{key.name}.{secrets.token_hex(8)}",
                "namespace": key.namespace,
            },
            "eventTime": now,
            "type": "Warning",
            "reason": reason,
            "action": "PolicyChanged",
            "note": note[:LONGEST_NOTE],
            "reportingController": f"{names.GROUP}/{MANAGER}",
            "reportingInstance": self._identity,
            "regarding": {
                "apiVersion": names.API_VERSION,
                "kind": key.kind,
                "namespace": key.namespace,
                "name": key.name,
                **({"uid": uid} if uid else {}),
            },
        }
        path = f"/apis/{EVENTS}/namespaces/{key.namespace}/events"
        await self._connection.call("POST", path, {}, body, kind=JSON)

    def now(self, *, micro: bool = False) -> str:
        """Return the current time as Kubernetes writes it."""
        return self._wall().strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
