"""One Lease object: who leads, read and written with optimistic concurrency.

Source: kubernetes/api ``coordination/v1``; client-go ``tools/leaderelection``, whose times we keep.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec

from webhook.apiserver.connection import JSON, Connection
from webhook.apiserver.errors import BrokenAnswer, KindAbsent

API_VERSION = "coordination.k8s.io/v1"
HOLD_SECONDS = 15
"""How long others leave a leader alone that gives no sign of life."""
MOST_TRANSITIONS = 2**31 - 1
"""What the field holds; somebody may have written that."""


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
            "leaseTransitions": min(
                seen.transitions + (is_change and bool(seen.version)), MOST_TRANSITIONS
            ),
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


class _Metadata(msgspec.Struct):
    version: Annotated[str, msgspec.Meta(min_length=1)] = msgspec.field(name="resourceVersion")


class _Spec(msgspec.Struct, rename="camel"):
    """Anything may be absent or null."""

    holder_identity: str | None = None
    renew_time: str | None = None
    acquire_time: str | None = None
    lease_transitions: int | None = None
    lease_duration_seconds: int | None = None


class _Lease(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec | None = None


def _record(found: Mapping[str, Any]) -> Record:
    """Return what a Lease says.

    Raises:
        BrokenAnswer: It is no Lease.
    """
    try:
        lease = msgspec.convert(found, _Lease)
    except msgspec.ValidationError as err:
        raise BrokenAnswer(f"Lease: {err}") from err
    spec = lease.spec or _Spec()
    return Record(
        holder=spec.holder_identity or "",
        renewed=spec.renew_time or "",
        transitions=spec.lease_transitions or 0,
        version=lease.metadata.version,
        hold=spec.lease_duration_seconds or HOLD_SECONDS,
        acquired=spec.acquire_time or "",
    )
