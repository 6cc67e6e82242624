"""Keep the cache equal to one kind in the cluster, for ever, whatever happens on the way.

Knows list, watch and the cache. Reads everything once, then follows; reads everything again only
when its place in the stream is lost, and then hands over what differs, in one step. The old
objects stay meanwhile.
"""

import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Any, NoReturn

from webhook.apiserver.connection import Connection
from webhook.apiserver.errors import (
    BrokenAnswer,
    Busy,
    CallFailed,
    Expired,
    Forbidden,
    KindAbsent,
    Refused,
    Silent,
    Unauthorized,
)
from webhook.apiserver.kinds import Kind
from webhook.apiserver.pace import Backoff, Pace
from webhook.watch import stream
from webhook.watch.cache import Cache
from webhook.watch.known import Known, Listing, Sighting, place_of, version_of
from webhook.watch.stream import Event

WATCH_SECONDS = (300.0, 600.0)
"""A random length, so that the watches of all kinds and replicas do not end together."""
BELIEF_SECONDS = 60.0
"""How long a kind that was there must be gone before we believe it: an API server that is just
starting says 404 too (before Kubernetes 1.24; later it says 503)."""
SHORT_SECONDS = 1.0
"""A watch that ended sooner, without an event, counts as a failure: no hot loop."""
FIRST = "start"
STREAM, PAGES = "stream", "pages"

Events = AsyncGenerator[Event | None, None]

log = logging.getLogger(__name__)


class Reflector:
    """Reads one kind.

    Attributes:
        kind: Which.
        known: Which objects were handed over.
    """

    def __init__(self, kind: Kind, connection: Connection, cache: Cache, pace: Pace) -> None:
        """Join the parts; nothing is read yet."""
        self.kind = kind
        self.known = Known(kind.name)
        self._connection = connection
        self._cache = cache
        self._pace = pace
        self._backoff = Backoff(pace)
        self._tally = cache.states()[kind.name].tally
        self._version: str | None = None
        self._cause = FIRST
        """Why the next full list is read."""
        self._is_listed = False
        self._can_stream = True
        """Whether the API server may know streaming lists; once refused, not asked for again."""
        self._is_in_doubt = False
        """Whether a streaming list failed in a way that pages may not; until the next full list."""
        self._has_heard = False
        """Whether the watch under way has had an event."""
        self._absent_since: float | None = None

    async def run(self) -> NoReturn:
        """List and watch for ever."""
        while True:
            started = self._pace.clock()
            try:
                pause = await self._once()
            except CallFailed as err:
                self._backoff.lived(self._pace.clock() - started)
                pause = await self._recover(err)
            if pause:
                await self._pace.sleep(pause)

    def put(self, found: dict[str, Any], since: Sighting) -> None:
        """Take an object that was read by other means; it is in the snapshot at once.

        Args:
            found: The object as it was read.
            since: ``known.sighting`` of it before that. Where more was heard meanwhile, that is in
                the snapshot in its place: what was read may be the older, and would stay.
        """
        if self.known.sighting(place_of(found)) == since:
            self._cache.offer(self.known.put(found))
        self._cache.flush()

    async def _once(self) -> float:
        """Read everything where our place is lost, then follow; return how long to pause."""
        if self._version is None and self._can_stream and not self._is_in_doubt:
            try:
                return await self._stream()
            except Refused as err:
                self._can_stream = False
                self._tally.failures[err.reason] += 1
                fields = {"kind": self.kind.name, "error": str(err)}
                log.info("list_not_streamed", extra={"fields": fields})
        if self._version is None:
            self._version = await self._list()
        async with contextlib.aclosing(self._watch(self._version)) as events:
            return await self._follow(events)

    # ------------------------------------------------------------------ everything

    async def _list(self) -> str:
        """Bring the cache up to date by pages; return where a watch goes on."""
        listing = Listing(self.known)
        version = ""
        async for page in stream.list_pages(self._connection, self.kind):
            for found in page:
                listing.add(found)
            version = page.metadata.version
            self._hand_over_first(listing)
        self._finish(listing, PAGES)
        return version

    async def _stream(self) -> float:
        """Bring the cache up to date by a watch that begins with what there is, and follow it.

        Raises:
            CallFailed: Refused where the API server cannot do so.
        """
        async with contextlib.aclosing(self._watch(None)) as events:
            try:
                await self._read_all(events)
            except (BrokenAnswer, Busy, Expired, Silent):
                self._is_in_doubt = True
                raise
            return await self._follow(events)

    async def _read_all(self, events: Events) -> None:
        """Take the events of a streaming list up to the mark behind the last of them."""
        listing = Listing(self.known)
        async for event in events:
            if event is None:
                continue
            self._tally.events += 1
            if self._gather(event, listing):
                return self._finish(listing, STREAM)
        raise BrokenAnswer(f"streaming list of {self.kind.resource}: ended before its end")

    def _gather(self, event: Event, listing: Listing) -> bool:
        """Take an event of a streaming list; tell whether it was the last.

        Raises:
            Refused: A bookmark like any other: this API server has not understood the question.
        """
        match event.type:
            case "BOOKMARK":
                if not event.is_initial_end:
                    raise Refused(f"streaming list of {self.kind.resource}: its end is not marked")
                self._version = version_of(event.object)
                return True
            case "DELETED":
                listing.remove(place_of(event.object))
            case "ADDED" | "MODIFIED":
                listing.add(event.object)
                if len(listing) >= stream.PAGE_SIZE:
                    self._hand_over_first(listing)
        return False

    def _hand_over_first(self, listing: Listing) -> None:
        """The very first time objects go over as they come: a large cluster is never held twice."""
        if not self._is_listed:
            self._cache.offer(listing.drain())
            self._cache.flush()

    def _finish(self, listing: Listing, way: str) -> None:
        """Hand over what a full list changes, in one step."""
        self._cache.offer(listing.finish())
        self._tally.lists[self._cause, way] += 1
        if self._is_listed:
            fields = {"kind": self.kind.name, "cause": self._cause, "way": way}
            log.info("kind_relisted", extra={"fields": fields})
        self._is_listed = True
        self._is_in_doubt = False
        self._absent_since = None
        self._cache.synced(self.kind.name, self.known.count)

    # ---------------------------------------------------------------- what changes

    def _watch(self, version: str | None) -> Events:
        length = int(self._pace.uniform(*WATCH_SECONDS))
        return stream.watch(self._connection, self.kind, version, length)

    async def _follow(self, events: Events) -> float:
        """Follow events until the API server ends the watch; return how long to pause then."""
        started = self._pace.clock()
        self._has_heard = False
        async for event in events:
            if event is not None:
                self._has_heard = True
                self._tally.events += 1
                self._take(event)
            self._cache.seen(self.kind.name, self.known.count)
        lived = self._pace.clock() - started
        self._backoff.lived(lived)
        return 0.0 if self._has_heard or lived >= SHORT_SECONDS else self._backoff.next()

    def _take(self, event: Event) -> None:
        if event.type == "DELETED":
            self._cache.offer(self.known.drop(place_of(event.object)))
        elif event.type in ("ADDED", "MODIFIED"):
            self._cache.offer(self.known.put(event.object))
        self._version = version_of(event.object) or self._version

    # --------------------------------------------------------------------- trouble

    async def _recover(self, err: CallFailed) -> float:
        """Do what an error asks for; return how long to stay away."""
        self._tally.failures[err.reason] += 1
        if self._is_gone(err) and self.kind.is_optional:
            self._take_none()
        elif not isinstance(err, Expired):
            is_lost = self._is_gone(err)
            self._cache.failed(self.kind.name, self._sentence(err), is_lost=is_lost)
        if self._has_lost_its_place(err):
            self._lose_place(err.reason)
        if isinstance(err, Unauthorized):
            await self._reload()
        return self._backoff.next(err.retry_after if isinstance(err, Busy) else 0.0)

    def _has_lost_its_place(self, err: CallFailed) -> bool:
        """Tell whether everything must be read again.

        A watch in which not even a bookmark came may ask for a version that this API server has
        yet to reach: it does so in silence after its data were restored from an older copy.
        """
        if isinstance(err, Silent):
            return not self._has_heard
        return isinstance(err, Expired | KindAbsent | BrokenAnswer | Refused)

    def _lose_place(self, cause: str) -> None:
        if self._version is not None:
            self._cause = cause
        self._version = None

    def _is_gone(self, err: CallFailed) -> bool:
        """Tell whether to believe that the cluster does not have the kind."""
        if not isinstance(err, KindAbsent):
            return False
        now = self._pace.clock()
        if self._absent_since is None:
            self._absent_since = now
        return not self.known.count or now - self._absent_since >= BELIEF_SECONDS

    def _sentence(self, err: CallFailed) -> str:
        if isinstance(err, Forbidden):
            return f"forbidden: our role needs list and watch on {self.kind.resource}; {err}"
        if isinstance(err, KindAbsent):
            return f"no CustomResourceDefinition {self.kind.resource}; {err}"
        return str(err)

    def _take_none(self) -> None:
        """A kind that this cluster does not have: there are no such objects, and that is known."""
        if self.known.count or not self._is_listed:
            log.info("kind_absent", extra={"fields": {"kind": self.kind.name}})
        self._is_listed = True
        self._cache.offer(Listing(self.known).finish())
        self._cache.synced(self.kind.name, 0)

    async def _reload(self) -> None:
        try:
            await self._connection.reload()
        except CallFailed as err:
            self._cache.failed(self.kind.name, str(err))
