"""``POST`` of a review: let the core judge it, write the answer and one log line.

Knows HTTP and the core's function for each path; knows neither where objects come from nor
certificates.
Flat on purpose: a router and middlewares cost about as much as judging a pod does.

Reviews are JSON: a request that says another ``Content-Type``, or any ``Content-Encoding``, is
answered 415 (the API server always sends plain ``application/json``); one that says nothing is
read as JSON.
"""

import logging
import time
from collections.abc import Callable, Mapping

from aiohttp import web

from webhook.admission.answer import Answer
from webhook.admission.errors import AdmissionError
from webhook.server import replies
from webhook.server.errors import Overloaded, RequestError
from webhook.server.intake import Intake, Limits, Parcel
from webhook.server.ledger import Ledger
from webhook.server.objects import Objects
from webhook.server.waiting import Handle, WaitingRoom

MUTATE = "/mutate"
VALIDATE = "/validate"
OTHER = "other"
OUR_TIMEOUT = 3.0
"""Seconds: ``timeoutSeconds`` of the registration we ship."""
MARGIN = 0.2
"""Seconds of the caller's timeout that stay for the way back."""

log = logging.getLogger(__name__)


class Reviews:
    """Answers reviews; the handler of the TLS server.

    Attributes:
        draining: Set when the process is about to end: every answer closes its connection, so
            that API servers dial another replica.
        intake: What is being taken in now.
        shed: Requests answered 429 so far.
    """

    def __init__(
        self,
        cores: Mapping[str, Handle],
        objects: Objects,
        ledger: Ledger,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Join the parts.

        Args:
            cores: The core's function for each path that is answered; only pods, at ``/mutate``,
                ever wait.
            objects: Where its snapshot comes from.
            ledger: Counts requests and writes decisions down.
            limits: What to take on; the defaults if not given.
            clock: Seconds from any start, for durations.
        """
        self._cores = dict(cores)
        self._objects = objects
        self._ledger = ledger
        self._clock = clock
        self._room = WaitingRoom(cores[MUTATE], objects)
        self.draining = False
        self.intake = Intake(limits or Limits())
        self.shed = 0

    def waiting(self) -> int:
        """Return how many requests wait for a newer snapshot."""
        return self._room.present

    def turned_away(self) -> int:
        """Return how many requests found no place to wait."""
        return self._room.turned_away

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the answer to one HTTP request; never raises."""
        started = self._clock()
        path = request.path
        handle = self._cores.get(path)
        if handle is None:
            response = replies.unknown_path(path, tuple(self._cores))
            path = OTHER
        elif request.method != "POST":
            response = replies.wrong_method(request.method, path, "POST")
        else:
            response = await self._answer(request, handle, started)
        if self.draining:
            response.force_close()
        self._ledger.answered(path, response.status, self._clock() - started)
        return response

    async def _answer(
        self, request: web.BaseRequest, handle: Handle, started: float
    ) -> web.Response:
        """Return a review, or say with a status why there is none."""
        refused = _unreadable(request)
        if refused is not None:
            return refused
        parcel = Parcel(self.intake)
        try:
            answer = await self._judge(request, handle, parcel, started)
        except Overloaded as err:
            return self._shed(str(err))
        except RequestError as err:
            log.debug("request_refused", extra={"fields": {"error": str(err)}})
            return replies.last_words(err.status, str(err))
        except AdmissionError as err:
            fields = {"error": str(err), "client": request.remote}
            log.warning("review_refused", extra={"fields": fields})
            return replies.sentence(err.status, str(err))
        except Exception:
            log.exception("review_failed", extra={"fields": {"path": request.path}})
            return replies.broken()
        finally:
            parcel.close()
        self._ledger.decided(answer.decision, self._clock() - started)
        return replies.review(answer.body)

    async def _judge(
        self, request: web.BaseRequest, handle: Handle, parcel: Parcel, started: float
    ) -> Answer:
        body = await parcel.read(request)
        result = handle(body, self._objects.current())
        if isinstance(result, Answer) and result.doubted is None:
            return result
        # Who waits takes no place: else 64 pods of a new namespace would shut the others out.
        parcel.step_aside()
        left = budget(request.rel_url.query.get("timeout", "")) - (self._clock() - started)
        return await self._room.settle(body, result, left)

    def _shed(self, reason: str) -> web.Response:
        self.shed += 1
        log.debug("request_shed", extra={"fields": {"reason": reason}})
        return replies.overloaded(reason)


def budget(timeout: str) -> float:
    """Return how many seconds a request may take, from its ``timeout`` query parameter.

    Args:
        timeout: Whole seconds and ``s``, as the API server writes it (rounded up); anything else
            counts as our own registration's timeout, which is also the most.
    """
    digits = timeout.removesuffix("s")
    seconds = float(digits) if digits.isascii() and digits.isdigit() else OUR_TIMEOUT
    return max(0.0, min(seconds, OUR_TIMEOUT) - MARGIN)


def _unreadable(request: web.BaseRequest) -> web.Response | None:
    """Return 415 where the headers say that the body is no plain JSON."""
    headers = request.headers
    kind = headers.get("Content-Type", replies.JSON)
    if kind != replies.JSON and kind.partition(";")[0].strip().lower() != replies.JSON:
        return replies.wrong_content("Content-Type", kind)
    if "Content-Encoding" in headers:
        return replies.wrong_content("Content-Encoding", headers["Content-Encoding"])
    return None
