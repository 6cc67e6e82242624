"""Keep the cache equal to one kind in the cluster, for ever, whatever happens on the way.

Knows list, watch and the cache. Lists once, then watches; lists again only when its place in the
stream is lost, and then hands over what differs, in one step. The old objects stay meanwhile.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from policies.changes import Change, Gone, Put
from webhook.apiserver.connection import Connection
from webhook.apiserver.errors import (
    BrokenAnswer,
    Busy,
    CallFailed,
    Expired,
    Forbidden,
    KindAbsent,
    Unauthorized,
)
from webhook.apiserver.kinds import Kind
from webhook.apiserver.pace import Backoff, Pace
from webhook.watch import stream
from webhook.watch.cache import Cache

WATCH_SECONDS = (300.0, 600.0)
"""A random length, so that the watches of all kinds and replicas do not end together."""
BELIEF_SECONDS = 60.0
"""How long a kind that was there must be gone before we believe it: an API server that is just
starting says 404 too (before Kubernetes 1.24; later it says 503)."""
SHORT_SECONDS = 1.0
"""A watch that ended sooner, without an event, counts as a failure: no hot loop."""

log = logging.getLogger(__name__)


class Reflector:
    """Reads one kind.

    Attributes:
        kind: Which.
        deletions: How many objects were seen to go.
    """

    def __init__(self, kind: Kind, connection: Connection, cache: Cache, pace: Pace) -> None:
        """Join the parts; nothing is read yet."""
        self.kind = kind
        self.deletions = 0
        self._connection = connection
        self._cache = cache
        self._pace = pace
        self._backoff = Backoff(pace)
        self._version: str | None = None
        self._is_listed = False
        self._known: dict[str, dict[str, int]] = {}
        """Namespace to name to a fingerprint of the resource version."""
        self._count = 0
        self._absent_since: float | None = None

    async def run(self) -> NoReturn:
        """List and watch for ever."""
        while True:
            started = self._pace.clock()
            try:
                if self._version is None:
                    self._version = await self._list()
                pause = await self._watch(self._version)
            except CallFailed as err:
                self._backoff.lived(self._pace.clock() - started)
                pause = await self._recover(err)
            if pause:
                await self._pace.sleep(pause)

    def sighting(self, namespace: str, name: str) -> tuple[int, int | None]:
        """Return a mark that is another one once more was heard of an object."""
        return self.deletions, self._known.get(namespace, {}).get(name)

    def put(self, found: dict[str, Any], since: tuple[int, int | None]) -> None:
        """Take an object that was read by other means; it is in the snapshot at once.

        Args:
            found: The object as it was read.
            since: Its sighting before that. Where more was heard meanwhile, that is in the
                snapshot in its place: what was read may be the older, and would stay.
        """
        is_newest = self.sighting(*_place(found)) == since
        change = self._change(found) if is_newest else None
        if change is not None:
            self._cache.offer([change])
        self._cache.flush()

    async def _list(self) -> str:
        """Bring the cache up to date and return where a watch goes on.

        The first time each page is handed over as it comes, so that a large cluster is never
        held twice; later only what differs, in one step.
        """
        unseen = {space: set(objects) for space, objects in self._known.items()}
        changes: list[Change] = []
        version = ""
        try:
            async for page in stream.list_pages(self._connection, self.kind):
                changes.extend(self._differing(page, unseen))
                version = page.version
                if not self._is_listed:
                    self._cache.offer(changes)
                    self._cache.flush()
                    changes = []
            for namespace, left in unseen.items():
                changes.extend(self._gone(namespace, name) for name in left)
        finally:
            # Also where a later page failed: what was read counts as known from here on.
            self._cache.offer(changes)
        self._is_listed = True
        self._absent_since = None
        self._cache.synced(self.kind.name, self._count)
        return version

    def _differing(self, page: stream.Page, unseen: dict[str, set[str]]) -> Iterator[Change]:
        """Yield what a page changes, and take its objects out of ``unseen``."""
        for found in page.items:
            namespace, name = _place(found)
            unseen.get(namespace, set()).discard(name)
            change = self._change(found)
            if change is not None:
                yield change

    async def _watch(self, version: str) -> float:
        """Follow events until the API server ends the watch; return how long to pause then."""
        started = self._pace.clock()
        events = 0
        length = int(self._pace.uniform(*WATCH_SECONDS))
        async for event in stream.watch(self._connection, self.kind, version, length):
            if event is not None:
                events += 1
                self._follow(event)
            self._cache.seen(self.kind.name, self._count)
        lived = self._pace.clock() - started
        self._backoff.lived(lived)
        return 0.0 if events or lived >= SHORT_SECONDS else self._backoff.next()

    def _follow(self, event: stream.Event) -> None:
        found = event.object
        version = _version(found)
        if event.type == "DELETED":
            namespace, name = _place(found)
            if name in self._known.get(namespace, {}):
                self._cache.offer([self._gone(namespace, name)])
        elif event.type in ("ADDED", "MODIFIED"):
            change = self._change(found)
            if change is not None:
                self._cache.offer([change])
        self._version = version or self._version

    async def _recover(self, err: CallFailed) -> float:
        """Do what an error asks for; return how long to stay away."""
        if isinstance(err, Expired):
            log.info("kind_relisted", extra={"fields": {"kind": self.kind.name}})
        elif self._is_gone(err) and self.kind.is_optional:
            self._take_none()
        else:
            is_lost = self._is_gone(err)
            self._cache.failed(self.kind.name, self._sentence(err), is_lost=is_lost)
        if isinstance(err, Expired | KindAbsent | BrokenAnswer):
            self._version = None
        if isinstance(err, Unauthorized):
            await self._reload()
        return self._backoff.next(err.retry_after if isinstance(err, Busy) else 0.0)

    def _is_gone(self, err: CallFailed) -> bool:
        """Tell whether to believe that the cluster does not have the kind."""
        if not isinstance(err, KindAbsent):
            return False
        now = self._pace.clock()
        if self._absent_since is None:
            self._absent_since = now
        return not self._count or now - self._absent_since >= BELIEF_SECONDS

    def _sentence(self, err: CallFailed) -> str:
        if isinstance(err, Forbidden):
            return f"forbidden: our role needs list and watch on {self.kind.resource}; {err}"
        if isinstance(err, KindAbsent):
            return f"no CustomResourceDefinition {self.kind.resource}; {err}"
        return str(err)

    def _take_none(self) -> None:
        """A kind that this cluster does not have: there are no such objects, and that is known."""
        if self._known or not self._is_listed:
            log.info("kind_absent", extra={"fields": {"kind": self.kind.name}})
        self._is_listed = True
        gone = [(space, name) for space, objects in self._known.items() for name in objects]
        self._cache.offer([self._gone(namespace, name) for namespace, name in gone])
        self._cache.synced(self.kind.name, 0)

    async def _reload(self) -> None:
        try:
            await self._connection.reload()
        except CallFailed as err:
            self._cache.failed(self.kind.name, str(err))

    def _change(self, found: dict[str, Any]) -> Put | None:
        """Return what an object changes; None where its version is the one we know."""
        namespace, name = _place(found)
        version = hash(_version(found))
        objects = self._known.setdefault(namespace, {})
        if objects.get(name) == version:
            return None
        self._count += name not in objects
        objects[name] = version
        found["metadata"].pop("managedFields", None)
        return Put(self.kind.name, found)

    def _gone(self, namespace: str, name: str) -> Gone:
        objects = self._known[namespace]
        del objects[name]
        if not objects:
            del self._known[namespace]
        self._count -= 1
        self.deletions += 1
        return Gone(self.kind.name, namespace, name)


def _place(found: Mapping[str, Any]) -> tuple[str, str]:
    """Return an object's namespace (empty where it has none) and name.

    Raises:
        BrokenAnswer: It has no name.
    """
    metadata = found.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or not name:
        raise BrokenAnswer("an object has no metadata.name")
    namespace = metadata.get("namespace")
    return (namespace if isinstance(namespace, str) else ""), name


def _version(found: Mapping[str, Any]) -> str:
    metadata = found.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    return version if isinstance(version, str) else ""
