"""What is being taken in: how many bodies are under way, and how much of them is held.

Knows bodies and three bounds. A request is in flight once its body is there, so that clients which
send no more than a head take no place from those that send a review.
"""

from dataclasses import dataclass

from aiohttp import web

from webhook.server.body import MAX_BODY, READ_SECONDS, read_body
from webhook.server.errors import Overloaded


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process takes on; what comes on top is answered 429.

    Attributes:
        in_flight: Requests whose body is there and that have no answer yet.
        arriving: Bodies under way.
        held: Bytes of bodies, from their arrival to the answer. Those that came count, not those
            that were announced: announcing costs a client nothing.
        body: Bytes of one body; more are answered 413.
        read: Seconds for one body to arrive; later ones are answered 408.
    """

    in_flight: int = 64
    arriving: int = 256
    held: int = 64 * 1024 * 1024
    body: int = MAX_BODY
    read: float = READ_SECONDS


class Intake:
    """The counts that all requests share.

    Attributes:
        in_flight: Requests whose body is there, without those that wait for a newer snapshot.
        arriving: Bodies under way.
        held: Bytes of bodies that are held.
    """

    def __init__(self, limits: Limits) -> None:
        """Begin with nothing."""
        self.limits = limits
        self.in_flight = 0
        self.arriving = 0
        self.held = 0


class Parcel:
    """One request's share of the intake; :meth:`close` gives it back."""

    __slots__ = ("_bytes", "_intake", "_is_arriving", "_is_closed", "_is_in_flight")

    def __init__(self, intake: Intake) -> None:
        """Begin with no share."""
        self._intake = intake
        self._bytes = 0
        self._is_arriving = False
        self._is_in_flight = False
        self._is_closed = False

    async def read(self, request: web.BaseRequest) -> bytes:
        """Return the body, which is in flight from then on.

        Raises:
            Overloaded: A bound is reached.
            RequestError: The body is not one that can be read.
        """
        intake = self._intake
        limits = intake.limits
        content = request.content
        if not content.is_eof():
            if intake.arriving >= limits.arriving:
                raise Overloaded(f"{limits.arriving} bodies are being read")
            intake.arriving += 1
            self._is_arriving = True
        # The moment at which it is complete, not that at which it gets its turn.
        content.on_eof(self._complete)
        body = await read_body(request, limits.body, limits.read, self._hold)
        if not self._is_in_flight:
            raise Overloaded(f"{limits.in_flight} requests are in flight")
        return body

    def step_aside(self) -> None:
        """Leave the place in flight to others, while this request waits for a newer snapshot."""
        self._intake.in_flight -= 1
        self._is_in_flight = False

    def close(self) -> None:
        """Give everything back."""
        self._arrive()
        self._intake.held -= self._bytes
        self._intake.in_flight -= self._is_in_flight
        self._is_closed = True

    def _hold(self, size: int) -> None:
        intake = self._intake
        if intake.held + size > intake.limits.held:
            raise Overloaded(f"{intake.held} bytes of bodies are held")
        intake.held += size
        self._bytes += size

    def _complete(self) -> None:
        """Take a place in flight if there is one; called at the body's end, also after `close`."""
        if self._is_closed:
            return
        self._arrive()
        intake = self._intake
        if intake.in_flight < intake.limits.in_flight:
            intake.in_flight += 1
            self._is_in_flight = True

    def _arrive(self) -> None:
        self._intake.arriving -= self._is_arriving
        self._is_arriving = False
