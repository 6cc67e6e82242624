"""The status of one object: compared with what it should say, and written only where it differs.

Knows the core's standings and the API server; not when to look.
"""

import logging

from policies import inventory, names
from policies.index import Network
from policies.snapshot import Snapshot
from policies.standing import network, partition, policy
from policies.standing.finding import Standing
from webhook.apiserver.errors import Busy, CallFailed, Conflict, KindAbsent
from webhook.control import conditions
from webhook.control.allowance import Allowance
from webhook.control.keys import Key
from webhook.control.leftovers import Leftovers
from webhook.control.nodes import Nodes
from webhook.control.objects import Objects
from webhook.control.observed import Observed, Sight
from webhook.control.queue import Retry
from webhook.control.view import View

AGAIN_SECONDS = 30.0
"""How soon a policy with outdated pods is looked at again: they end without telling us."""

log = logging.getLogger(__name__)


class Statuses:
    """Keeps the status of our objects true.

    Attributes:
        writes: How many statuses were written.
        failures: How many tries failed.
    """

    def __init__(
        self,
        view: View,
        objects: Objects,
        observed: Observed,
        nodes: Nodes,
        leftovers: Leftovers,
        allowance: Allowance,
    ) -> None:
        """Join the parts.

        Args:
            view: The newest snapshot.
            objects: Reads and writes.
            observed: What each status says now.
            nodes: What nodes advertise.
            leftovers: Which running pods a policy left behind.
            allowance: How often objects may be read and written.
        """
        self._view = view
        self._objects = objects
        self._observed = observed
        self._nodes = nodes
        self._leftovers = leftovers
        self._allowance = allowance
        self._troubles: dict[Key, str] = {}
        self.writes = 0
        self.failures = 0

    async def settle(self, key: Key) -> float | None:
        """Bring one object's status up to date; return after how many seconds to look again.

        Raises:
            Retry: The API server does not let us right now, or its next event is on the way.
        """
        try:
            delay = await self._settle(key)
        except KindAbsent:
            delay = None
        except Conflict as err:
            raise Retry from err
        except CallFailed as err:
            self._complain(key, err)
            raise Retry(err.retry_after if isinstance(err, Busy) else 0.0) from err
        self._troubles.pop(key, None)
        return delay

    def forget(self) -> None:
        """Let go of what is known for a leader alone."""
        self._troubles.clear()
        self._view.forget()

    async def _settle(self, key: Key) -> float | None:
        is_whole = True
        sight = self._observed.sight(key)
        if sight is not None and _is_policy(key):
            is_whole = await self._leftovers.look(key.namespace, sight.generation)
            # It took a while; from here to the standing nothing is awaited.
            sight = self._observed.sight(key)
        if sight is None:
            await self._leftovers.farewell(key)
            return None
        standing = self._standing(key)
        if standing is None:
            return None
        if conditions.digest(conditions.status(standing, sight.generation, {}, "")) != sight.digest:
            await self._write(key, standing, sight)
        has_old_pods = bool(standing.fields.get("counts", {}).get("outdatedPods"))
        return AGAIN_SECONDS if has_old_pods or not is_whole else None

    def _standing(self, key: Key) -> Standing | None:
        """Return what an object should say; None where the snapshot does not know it."""
        snapshot = self._view()
        is_known = key in snapshot.faults
        match key.kind:
            case names.NETWORK:
                found = snapshot.networks.get(key.name)
                if found is None:
                    return None
                return network.stand(snapshot, found, self._missing(snapshot, found))
            case names.PARTITION:
                is_known = is_known or key.name in snapshot.partitions
                return partition.stand(snapshot, key.name) if is_known else None
            case _ if _is_policy(key):
                is_known = snapshot.knows(key.kind, key.namespace, key.name)
                outdated = self._leftovers.outdated(key.namespace)
                return policy.stand(snapshot, key.namespace, outdated) if is_known else None
            case _:
                return policy.stray(snapshot, key.namespace, key.name) if is_known else None

    def _missing(self, snapshot: Snapshot, found: Network) -> tuple[str, ...] | None:
        """Return the resources of a network that no node advertises; None if nobody counted."""
        advertised = self._nodes.advertised
        if advertised is None:
            return None
        wanted = inventory.resources(snapshot, found)
        return tuple(name for name in wanted if name not in advertised)

    async def _write(self, key: Key, standing: Standing, sight: Sight) -> None:
        """Write what an object should say, unless it says so by now.

        Where the object is a newer one than the standing is of, its event is on the way.
        """
        await self._allowance.take()
        found = await self._objects.read(key)
        if not sight.is_of(found):
            raise Retry
        status = found.get("status")
        old = status if isinstance(status, dict) else {}
        new = conditions.status(standing, sight.generation, old, self._objects.now())
        if conditions.digest(new) != conditions.digest(old):
            await self._objects.apply_status(key, found, new)
            self.writes += 1
            await self._leftovers.tell(key, str(found["metadata"].get("uid") or ""), old, new)

    def _complain(self, key: Key, err: CallFailed) -> None:
        """Count a failure, and log it where it is news of this object."""
        self.failures += 1
        if self._troubles.get(key) != str(err):
            fields = {"object": "/".join(filter(None, key)), "error": str(err)}
            log.warning("status_not_written", extra={"fields": fields})
        self._troubles[key] = str(err)


def _is_policy(key: Key) -> bool:
    """Whether this is the policy of a namespace, the only one that counts."""
    return (key.kind, key.name) == (names.POLICY, names.POLICY_NAME)
