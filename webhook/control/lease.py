"""One Lease object: who leads, read and written with optimistic concurrency.

Source: kubernetes/api ``coordination/v1``; client-go ``tools/leaderelection``, whose times we keep.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from webhook.apiserver.connection import JSON, Connection
from webhook.apiserver.errors import KindAbsent

API_VERSION = "coordination.k8s.io/v1"
HOLD_SECONDS = 15
"""How long others leave a leader alone that gives no sign of life."""


class Record(msgspec.Struct, frozen=True):
    """What the Lease says.

    Attributes:
        holder: Who leads; empty where nobody does.
        renewed: When the holder last said so, on its own clock: compared for equality only.
        transitions: How often the leader changed.
        version: Resource version; empty where there is no Lease yet.
        hold: Seconds that the holder asks for.
        acquired: Since when it leads, as written.
    """

    holder: str = ""
    renewed: str = ""
    transitions: int = 0
    version: str = ""
    hold: float = HOLD_SECONDS
    acquired: str = ""


class Lease:
    """Reads and writes one Lease."""

    def __init__(
        self, connection: Connection, namespace: str, name: str, wall: Callable[[], datetime]
    ) -> None:
        """Remember which.

        Args:
            connection: The way to the API server.
            namespace: Of the Lease: our own.
            name: Of the Lease.
            wall: Current time, with its zone: people read it in the Lease.
        """
        self._connection = connection
        self._folder = f"/apis/{API_VERSION}/namespaces/{namespace}/leases"
        self._name = name
        self._namespace = namespace
        self._wall = wall

    async def read(self) -> Record:
        """Return what the Lease says now; a record without version where there is none.

        Raises:
            CallFailed: It cannot be read.
        """
        try:
            found = await self._connection.call("GET", self._path, {}, kind=JSON)
        except KindAbsent:
            return Record()
        return _record(found)

    async def write(self, seen: Record, holder: str) -> Record:
        """Return the record after `holder` took, kept or (empty) released the lead.

        Args:
            seen: What the Lease said; it must still say so.
            holder: Who shall lead.

        Raises:
            CallFailed: Conflict where somebody was faster.
        """
        now = self._wall().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        is_change = bool(holder) and holder != seen.holder
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": HOLD_SECONDS if holder else 1,
            "acquireTime": now if is_change else seen.acquired or now,
            "renewTime": now,
            "leaseTransitions": seen.transitions + (is_change and bool(seen.version)),
        }
        metadata = {"name": self._name, "namespace": self._namespace}
        lease = {"apiVersion": API_VERSION, "kind": "Lease", "metadata": metadata, "spec": spec}
        if not seen.version:
            found = await self._connection.call("POST", self._folder, {}, lease, kind=JSON)
        else:
            metadata["resourceVersion"] = seen.version
            found = await self._connection.call("PUT", self._path, {}, lease, kind=JSON)
        return _record(found)

    @property
    def _path(self) -> str:
        return f"{self._folder}/{self._name}"


def _record(found: Mapping[str, Any]) -> Record:
    """Return what a Lease says; anything may be absent."""
    spec = found.get("spec") or {}
    return Record(
        holder=spec.get("holderIdentity") or "",
        renewed=spec.get("renewTime") or "",
        transitions=spec.get("leaseTransitions") or 0,
        version=found["metadata"]["resourceVersion"],
        hold=spec.get("leaseDurationSeconds") or HOLD_SECONDS,
        acquired=spec.get("acquireTime") or "",
    )
