"""An API server to write to, and the leader's parts joined to it, for every test of this room."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from policies.changes import Change, Gone, Put
from policies.snapshot import Snapshot
from tests.fakes.apiserver import LoopbackAccess
from tests.fakes.pace import FakePace
from tests.fakes.writes import WritableAPI
from tests.harness.cluster import RULES
from webhook.apiserver.connection import Connection
from webhook.apiserver.pace import Pace
from webhook.control.allowance import Allowance
from webhook.control.controller import Controller, World
from webhook.control.leftovers import Leftovers
from webhook.control.nodes import Nodes
from webhook.control.objects import Objects
from webhook.control.observed import Observed
from webhook.control.pods import Pods
from webhook.control.statuses import Statuses
from webhook.control.view import View

NOON = datetime(2026, 1, 2, 12, 0, 0, 345, UTC)
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"


class Room:
    """The leader's parts, an API server, and a snapshot that follows it when told to."""

    def __init__(self, api: WritableAPI, connection: Connection, pace: Pace) -> None:
        """Join the parts as the service does."""
        self.api = api
        self.snapshot = Snapshot.empty(RULES)
        self.is_synced = True
        self.observed = Observed()
        view = View(lambda: self.snapshot)
        self.objects = Objects(connection, "replica_1", lambda: NOON)
        self.nodes = Nodes(connection, RULES, pace)
        self.pods = Pods(connection)
        self.leftovers = Leftovers(view, self.objects, self.observed, self.pods)
        self.statuses = Statuses(
            view,
            self.objects,
            self.observed,
            self.nodes,
            self.leftovers,
            Allowance(pace, 1e4, 100),
        )
        world = World(lambda: self.snapshot, lambda: self.is_synced, self.observed)
        self.controller = Controller(world, self.statuses, self.nodes, self.leftovers, pace)
        api.lists.update({NODES: [], PODS: []})

    def put(self, *objects: dict[str, Any]) -> list[dict[str, Any]]:
        """Write objects and let the watch tell of them."""
        made = [self.api.put(one) if "spec" in one else one for one in objects]
        self.hear(*(Put(one["kind"], one) for one in made))
        return made

    def remove(self, kind: str, namespace: str, name: str, path: str) -> None:
        """Delete an object and let the watch tell of it."""
        del self.api.objects[path]
        self.hear(Gone(kind, namespace, name))

    def hear(self, *changes: Change) -> None:
        """Let the watch tell of changes."""
        before, self.snapshot = self.snapshot, self.snapshot.apply(changes)
        self.controller.follow(changes, before, self.snapshot)


@pytest.fixture
async def writable() -> AsyncIterator[WritableAPI]:
    """Return an API server that can be written to, without objects."""
    async with WritableAPI() as found:
        yield found


@pytest.fixture
async def way(writable: WritableAPI) -> AsyncIterator[Connection]:
    """Return an open connection to it."""
    found = Connection(LoopbackAccess(writable.base))
    yield found
    await found.close()


@pytest.fixture
def room(writable: WritableAPI, way: Connection, fake_pace: FakePace) -> Room:
    """Return the leader's parts; nothing runs yet."""
    return Room(writable, way, fake_pace.pace)


def running(
    name: str, namespace: str = "team-a", network: str = "tokens", **annotations: str
) -> dict[str, Any]:
    """Return the metadata of a pod that the webhook equipped."""
    stamp = '{"networks":["' + network + '"]}'
    found = {"rdma.io/network": network, "rdma.io/status": stamp, **annotations}
    return {"metadata": {"name": name, "namespace": namespace, "annotations": found}}
