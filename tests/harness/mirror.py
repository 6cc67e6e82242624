"""The product's own cache of a cluster, in this process, so that a test can look into it."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from policies.changes import Change, Put
from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.harness.controlplane import ControlPlane
from tests.harness.lifetime import Started
from tests.harness.waiting import wait_for
from webhook.apiserver.connection import connect
from webhook.apiserver.kinds import KINDS, Kind
from webhook.apiserver.pace import Pace
from webhook.watch.cache import Cache
from webhook.watch.cluster import Cluster
from webhook.watch.state import Tally

JOIN_SECONDS = 20.0
GOODBYE_SECONDS = 0.1
"""TLS connections say goodbye after they are closed; the loop has to live until then."""


class Mirror(Started):
    """A cache kept equal to a cluster by a thread of its own.

    Attributes:
        cache: The cache; read it, and leave the rest to the thread.
        snapshots: Every snapshot there was, oldest first.
    """

    def __init__(self, kubeconfig: Path, kinds: Sequence[Kind] = KINDS) -> None:
        """Describe it.

        Args:
            kubeconfig: The way to the cluster.
            kinds: What to wait for when it starts.
        """
        pace = Pace()
        names = [kind.name for kind in KINDS]
        empty = Snapshot.empty(Rules())
        self.cache = Cache(empty, names, timedelta(minutes=10), pace.clock)
        self.snapshots: list[Snapshot] = [empty]
        self._kinds = kinds
        self._kubeconfig = kubeconfig
        self._pace = pace
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Return when everything was read for the first time."""
        self.cache.follow(self._remember)
        self._thread.start()
        wait_for("the mirror is synced", self._is_synced)

    def stop(self) -> None:
        """End the thread."""
        if self._running is not None:
            self._loop.call_soon_threadsafe(self._running.cancel)
        self._thread.join(JOIN_SECONDS)

    def tally(self, kind: Kind) -> Tally:
        """Return what was counted of a kind."""
        return self.cache.states()[kind.name].tally

    def differences(self, cluster: ControlPlane) -> list[str]:
        """Return in which parts the snapshot is not what the API server's objects make."""
        changes = [
            Put(kind.name, found)
            for kind in self._kinds
            for found in cluster.request("GET", kind.path())["items"]
        ]
        wanted, got = Snapshot.empty(Rules()).apply(changes), self.cache.current()
        parts = ("shards", "networks", "partitions", "governance", "claims", "faults")
        return [part for part in parts if _plain(wanted, part) != _plain(got, part)]

    def _is_synced(self) -> bool:
        return all(self.cache.states()[kind.name].synced for kind in self._kinds)

    def _remember(self, _: Sequence[Change], __: Snapshot, after: Snapshot) -> None:
        self.snapshots.append(after)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._read())

    async def _read(self) -> None:
        connection = await connect(self._kubeconfig, self._pace.clock)
        cluster = Cluster(connection, self.cache, self._pace)
        self._running = asyncio.create_task(cluster.run())
        await asyncio.wait([self._running])
        await connection.close()
        await asyncio.sleep(GOODBYE_SECONDS)


def _plain(snapshot: Snapshot, part: str) -> Any:  # noqa: ANN401 - any part
    found = getattr(snapshot, part)
    return dict(found) if isinstance(found, Mapping) else found
