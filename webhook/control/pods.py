"""The running pods that were equipped: listed by the leader, as metadata alone.

Knows how such pods are found and which namespaces hold them. All of them are listed now and then;
those of one namespace when its policy changed.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from policies.names import ANNOTATION_STATUS, SELECTION_ANNOTATION
from policies.standing.pods import RunningPod, ours
from webhook.apiserver.connection import Connection
from webhook.apiserver.lists import pages
from webhook.control.turns import gently
from webhook.pods import selection
from webhook.pods.errors import InvalidSelection

ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
RUNNING = {
    "limit": "100",
    "fieldSelector": "status.phase!=Succeeded,status.phase!=Failed",
}

POD_STEPS = 10
"""Equipped pods whose annotations are read in one turn of the loop."""


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    annotations: dict[str, str] | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class Pods:
    """Equipped pods by namespace, as they were last listed.

    Attributes:
        is_listed: Whether all of them were listed once.
    """

    def __init__(self, connection: Connection) -> None:
        """Begin with nothing."""
        self._connection = connection
        self._found: dict[str, tuple[RunningPod, ...]] = {}
        self.is_listed = False

    def of(self, namespace: str) -> tuple[RunningPod, ...]:
        """Return the equipped pods of a namespace."""
        return self._found.get(namespace, ())

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that have any."""
        return tuple(self._found)

    async def list_all(self) -> None:
        """List the pods of every namespace.

        Raises:
            CallFailed: They cannot be read; what was known stays.
        """
        self._found = await self._listed("/api/v1/pods")
        self.is_listed = True

    async def list_in(self, namespace: str) -> None:
        """List the pods of one namespace.

        Raises:
            CallFailed: They cannot be read; what was known stays.
        """
        found = await self._listed(f"/api/v1/namespaces/{namespace}/pods")
        self._found.pop(namespace, None)
        self._found.update(found)

    def forget(self) -> None:
        """Know nothing any more: the pods are another leader's to look at."""
        self._found = {}
        self.is_listed = False

    async def _listed(self, path: str) -> dict[str, tuple[RunningPod, ...]]:
        found: dict[str, list[RunningPod]] = {}
        shared: dict[object, Any] = {}
        async for page in pages(self._connection, path, RUNNING, ACCEPT, _Pod):
            async for pod in gently(_equipped(page, shared), POD_STEPS):
                found.setdefault(pod.namespace, []).append(pod)
        return {namespace: tuple(pods) for namespace, pods in found.items()}


def _equipped(page: Iterable[_Pod], shared: dict[object, Any]) -> Iterator[RunningPod]:
    """Yield the pods that the webhook equipped, going by its stamp.

    Args:
        page: Some pods.
        shared: What pods of the same job have in common, kept once for all of them.
    """
    for pod in page:
        annotations = pod.metadata.annotations or {}
        if _networks(annotations.get(ANNOTATION_STATUS, "")):
            namespace = pod.metadata.namespace
            selected = _selected(annotations.get(SELECTION_ANNOTATION, ""), namespace)
            wish = ours(annotations)
            yield RunningPod(
                shared.setdefault(namespace, namespace),
                pod.metadata.name,
                shared.setdefault(wish, wish),
                shared.setdefault(selected, selected),
            )


def _networks(stamp: str) -> bool:
    """Whether a stamp says any network; a launcher's says none."""
    try:
        found = json.loads(stamp)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and bool(found.get("networks"))


def _selected(value: str, namespace: str) -> frozenset[tuple[str, str]]:
    """Return the NADs that a pod selects; none where Multus could not read it either."""
    try:
        elements = selection.parse(value)
    except InvalidSelection:
        return frozenset()
    return frozenset((one.namespace or namespace, one.name) for one in elements)
