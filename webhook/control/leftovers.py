"""Running pods that a changed policy leaves behind: which they are, and who is told.

Knows pods, the core's view of them, and events. Pods end without telling us, so a namespace is
listed anew when its policy changed, and while some are outdated.
"""

import logging
from collections.abc import Mapping
from typing import Any

from policies import names
from policies.standing import policy
from policies.standing.pods import is_outdated
from webhook.apiserver.errors import CallFailed
from webhook.control import conditions
from webhook.control.keys import Key
from webhook.control.objects import Objects
from webhook.control.observed import Observed
from webhook.control.pods import Pods
from webhook.control.turns import gently
from webhook.control.view import View

log = logging.getLogger(__name__)


class Leftovers:
    """Pods that keep what they were admitted with."""

    def __init__(self, view: View, objects: Objects, observed: Observed, pods: Pods) -> None:
        """Join the parts.

        Args:
            view: The newest snapshot.
            objects: Writes events.
            observed: Which policies there are, in which generation.
            pods: Which equipped pods run.
        """
        self._view = view
        self._objects = objects
        self._observed = observed
        self._pods = pods
        self._looked: dict[str, int] = {}
        """Namespaces whose pods were listed for their policy of that generation."""
        self._trouble = ""

    async def list_all(self) -> None:
        """List all pods; where that fails, what was known stays, or nobody counted."""
        before = {space: number async for space, number in gently(self._observed.generations())}
        try:
            await self._pods.list_all()
        except CallFailed as err:
            self._complain(err)
            return
        self._trouble = ""
        async for space, number in gently(self._observed.generations()):
            if before.get(space) == number:
                self._looked[space] = number

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that have equipped pods."""
        return self._pods.namespaces()

    async def look(self, namespace: str, generation: int) -> bool:
        """List the pods of a namespace where its policy is new, or some are outdated.

        Returns:
            Whether that was not necessary, or was possible.
        """
        if not self._pods.is_listed:
            return True
        if self._looked.get(namespace) == generation and not self.outdated(namespace):
            return True
        try:
            await self._pods.list_in(namespace)
        except CallFailed as err:
            self._complain(err)
            return False
        self._looked[namespace], self._trouble = generation, ""
        return True

    def outdated(self, namespace: str) -> tuple[str, ...] | None:
        """Return the pods that would be treated in another way now; None if nobody counted.

        Pods of one job wish the same, and are judged together.
        """
        if not self._pods.is_listed:
            return None
        snapshot, judged, found = self._view(), dict[object, bool](), []
        for pod in self._pods.of(namespace):
            wish = (pod.annotations, pod.selected)
            if wish not in judged:
                judged[wish] = is_outdated(snapshot, pod)
            if judged[wish]:
                found.append(pod.name)
        return tuple(sorted(found))

    async def tell(
        self, key: Key, uid: str, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> None:
        """Say in an event which pods a change of their policy left behind, once a change.

        Args:
            key: The policy.
            uid: Its own.
            old: Its status before.
            new: Its status now.
        """
        before, now = (conditions.find(one, policy.OUTDATED) for one in (old, new))
        if now.get("status") != "True":
            return
        said = ("status", "observedGeneration")
        if any(before.get(one) != now.get(one) for one in said):
            await self._say(key, uid, str(now.get("message", "")))

    async def farewell(self, key: Key) -> None:
        """Say in an event which pods keep the rights of a policy that is gone.

        Raises:
            CallFailed: The pods cannot be listed right now.
        """
        is_policy = (key.kind, key.name) == (names.POLICY, names.POLICY_NAME)
        if not is_policy or key.namespace not in self._looked:
            return
        await self._pods.list_in(key.namespace)
        self._looked.pop(key.namespace, None)
        left = tuple(sorted(pod.name for pod in self._pods.of(key.namespace)))
        if left:
            await self._say(key, "", policy.left_behind(left))

    def forget(self) -> None:
        """Know nothing any more: it is another leader's to look."""
        self._pods.forget()
        self._looked.clear()

    async def _say(self, key: Key, uid: str, note: str) -> None:
        """Write an event; one that cannot be written is not worth a second try."""
        try:
            await self._objects.tell(key, uid, policy.OUTDATED, note)
        except CallFailed as err:
            fields = {"object": "/".join(key), "note": note, "error": str(err)}
            log.warning("event_not_written", extra={"fields": fields})

    def _complain(self, err: CallFailed) -> None:
        """Log that pods cannot be listed where it is news; paths of namespaces are none."""
        kind = type(err).__name__
        if kind != self._trouble:
            log.warning("pods_unreadable", extra={"fields": {"error": str(err)}})
        self._trouble = kind
