"""The leader's part of the service, joined: election, controller, and what they read and write."""

import secrets
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from webhook.apiserver.connection import Connection
from webhook.apiserver.pace import Pace
from webhook.control.controller import Controller, World
from webhook.control.election import Election
from webhook.control.lease import Lease
from webhook.control.nodes import Nodes
from webhook.control.objects import Objects
from webhook.control.observed import Observed
from webhook.control.pods import Pods
from webhook.control.statuses import Statuses
from webhook.settings import Settings
from webhook.watch.cache import Cache

LEASE = "rdma-webhook"
"""Name of the Lease in our own namespace."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The controller of this replica, leading or not.

    Attributes:
        run: Competes for the lead and works while it has it, for ever.
        leads: Tells whether it leads now.
        statuses: Counts what it wrote.
    """

    run: Callable[[], Coroutine[Any, Any, None]]
    leads: Callable[[], bool]
    statuses: Statuses


def join(connection: Connection, cache: Cache, settings: Settings, pace: Pace) -> Leader:
    """Return the controller of this replica; it follows the cache from now on."""
    identity = f"{socket.gethostname()}_{secrets.token_hex(4)}"
    observed = Observed()
    objects = Objects(connection, identity, _now)
    nodes, pods = Nodes(connection, settings.rules, pace), Pods(connection)
    statuses = Statuses(cache.current, objects, observed, nodes, pods)
    world = World(cache.current, lambda: not cache.missing(), observed)
    controller = Controller(world, statuses, nodes, pods, pace)
    cache.follow(controller.follow)
    lease = Lease(connection, settings.namespace, LEASE, _now)
    election = Election(lease, identity, pace)

    async def run() -> None:
        await election.run(controller.lead)

    return Leader(run, lambda: election.leads, statuses)


def _now() -> datetime:
    return datetime.now(UTC)
