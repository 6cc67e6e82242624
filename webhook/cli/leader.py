"""The leader's part of the service, joined: election, controller, and what they read and write."""

import secrets
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from webhook.apiserver.connection import Connection
from webhook.apiserver.pace import Pace
from webhook.control.allowance import Allowance
from webhook.control.controller import Controller, World
from webhook.control.election import Election
from webhook.control.lease import Lease
from webhook.control.leftovers import Leftovers
from webhook.control.nodes import Nodes
from webhook.control.objects import Objects
from webhook.control.observed import Observed
from webhook.control.pods import Pods
from webhook.control.statuses import Statuses
from webhook.control.view import View
from webhook.settings import Settings
from webhook.watch.cache import Cache

LEASE = "rdma-webhook"
"""Name of the Lease in our own namespace."""
WRITES_A_SECOND = 50.0
BURST = 100


@dataclass(frozen=True, slots=True)
class Leader:
    """The controller of this replica, leading or not.

    Attributes:
        run: Competes for the lead and works while it has it, for ever.
        leads: Tells whether it leads now.
        statuses: Counts what it wrote.
        waiting: Tells how many objects it has to look at.
    """

    run: Callable[[], Coroutine[Any, Any, None]]
    leads: Callable[[], bool]
    statuses: Statuses
    waiting: Callable[[], int]


def join(connection: Connection, cache: Cache, settings: Settings, pace: Pace) -> Leader:
    """Return the controller of this replica; it follows the cache from now on."""
    identity = f"{socket.gethostname()}_{secrets.token_hex(4)}"
    observed, view = Observed(), View(cache.current)
    objects = Objects(connection, identity, _now)
    nodes = Nodes(connection, settings.rules, pace)
    leftovers = Leftovers(view, objects, observed, Pods(connection))
    allowance = Allowance(pace, WRITES_A_SECOND, BURST)
    statuses = Statuses(view, objects, observed, nodes, leftovers, allowance)
    world = World(cache.current, lambda: not cache.missing(), observed)
    controller = Controller(world, statuses, nodes, leftovers, pace)
    cache.follow(controller.follow)
    lease = Lease(connection, settings.namespace, LEASE, _now)
    election = Election(lease, identity, pace)

    async def run() -> None:
        await controller.ready()
        await election.run(controller.lead)

    return Leader(run, lambda: election.leads, statuses, controller.waiting)


def _now() -> datetime:
    return datetime.now(UTC)
