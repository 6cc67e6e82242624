"""The status of one object: compared with what it should say, and written only where it differs.

Knows the core's standings and the API server; not when to look.
"""

import logging
from collections.abc import Callable
from typing import Any

from policies import inventory, names
from policies.index import Network
from policies.snapshot import Snapshot
from policies.standing import network, partition, policy
from policies.standing.finding import Standing
from policies.standing.pods import is_outdated
from webhook.apiserver.errors import CallFailed, Conflict, KindAbsent
from webhook.control import conditions
from webhook.control.keys import Key
from webhook.control.nodes import Nodes
from webhook.control.objects import Objects
from webhook.control.observed import Observed, Sight
from webhook.control.pods import Pods
from webhook.control.queue import Retry

AGAIN_SECONDS = 30.0
"""How soon a policy with outdated pods is looked at again: they end without telling us."""
MOST_NAMED = 8

log = logging.getLogger(__name__)


class Statuses:
    """Keeps the status of our objects true."""

    def __init__(
        self,
        current: Callable[[], Snapshot],
        objects: Objects,
        observed: Observed,
        nodes: Nodes,
        pods: Pods,
    ) -> None:
        """Join the parts.

        Args:
            current: Returns the newest snapshot.
            objects: Reads and writes.
            observed: What each status says now.
            nodes: What nodes advertise.
            pods: Which equipped pods run.
        """
        self._current = current
        self._objects = objects
        self._observed = observed
        self._nodes = nodes
        self._pods = pods
        self._looked: dict[str, int] = {}
        self.writes = 0
        self.failures = 0

    async def settle(self, key: Key) -> float | None:
        """Bring one object's status up to date; return after how many seconds to look again.

        Raises:
            Retry: The API server does not let us right now.
        """
        try:
            return await self._settle(key)
        except KindAbsent:
            return None
        except Conflict as err:
            raise Retry from err
        except CallFailed as err:
            self.failures += 1
            fields = {"object": "/".join(filter(None, key)), "error": str(err)}
            log.warning("status_not_written", extra={"fields": fields})
            raise Retry from err

    async def _settle(self, key: Key) -> float | None:
        sight = self._observed.sight(key)
        if sight is None:
            await self._farewell(key)
            return None
        if key.kind == names.POLICY:
            await self._look(key.namespace, sight.generation)
        standing = self._standing(key)
        if standing is None:
            return None
        if conditions.digest(conditions.status(standing, sight.generation, {}, "")) != sight.digest:
            await self._write(key, standing, sight)
        has_old_pods = bool(standing.fields.get("counts", {}).get("outdatedPods"))
        return AGAIN_SECONDS if has_old_pods else None

    async def _look(self, namespace: str, generation: int) -> None:
        """List the pods of a namespace where its policy is new, or some are outdated."""
        if not self._pods.is_listed:
            return
        is_new = self._looked.get(namespace) != generation
        if is_new or self._outdated(namespace):
            await self._pods.list_in(namespace)
            self._looked[namespace] = generation

    def _outdated(self, namespace: str) -> tuple[str, ...] | None:
        if not self._pods.is_listed:
            return None
        snapshot = self._current()
        pods = self._pods.of(namespace)
        return tuple(sorted(pod.name for pod in pods if is_outdated(snapshot, pod)))

    def _standing(self, key: Key) -> Standing | None:
        snapshot = self._current()
        match key.kind:
            case names.NETWORK:
                found = snapshot.networks.get(key.name)
                return network.stand(snapshot, found, self._missing(found)) if found else None
            case names.PARTITION:
                return partition.stand(snapshot, key.name)
            case _ if key.name == names.POLICY_NAME:
                return policy.stand(snapshot, key.namespace, self._outdated(key.namespace))
            case _:
                return policy.stray(snapshot, key.namespace, key.name)

    def _missing(self, found: Network) -> tuple[str, ...] | None:
        """Return the resources of a network that no node advertises; None if nobody counted."""
        advertised = self._nodes.advertised
        if advertised is None:
            return None
        wanted = inventory.resources(self._current(), found)
        return tuple(name for name in wanted if name not in advertised)

    async def _write(self, key: Key, standing: Standing, sight: Sight) -> None:
        """Write what an object should say, unless it says so by now."""
        found = await self._objects.read(key)
        old = found.get("status") or {}
        new = conditions.status(standing, sight.generation, old, self._objects.now())
        if conditions.digest(new) != conditions.digest(old):
            written = await self._objects.apply_status(found, new)
            self.writes += 1
            await self._tell(key, found, old, new)
            self._observed.see(key.kind, written)
        else:
            self._observed.see(key.kind, found)

    async def _tell(self, key: Key, found: Any, old: Any, new: Any) -> None:  # noqa: ANN401 JSON
        """Say in an event which pods a change of their policy left behind."""
        before = conditions.message(old, policy.OUTDATED, "True")
        now = conditions.message(new, policy.OUTDATED, "True")
        if now and now != before:
            await self._say(key, found["metadata"].get("uid", ""), now)

    async def _farewell(self, key: Key) -> None:
        """Say in an event which pods keep the rights of a policy that is gone."""
        if key.kind != names.POLICY or self._looked.pop(key.namespace, None) is None:
            return
        await self._pods.list_in(key.namespace)
        left = tuple(sorted(pod.name for pod in self._pods.of(key.namespace)))
        if left:
            await self._say(key, "", policy.left_behind(left))

    async def _say(self, key: Key, uid: str, note: str) -> None:
        """Write an event; one that cannot be written is not worth a second try."""
        try:
            await self._objects.tell(key, uid, policy.OUTDATED, note)
        except CallFailed as err:
            fields = {"object": "/".join(key), "note": note, "error": str(err)}
            log.warning("event_not_written", extra={"fields": fields})
