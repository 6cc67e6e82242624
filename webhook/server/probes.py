"""``/healthz``, ``/readyz`` and ``/metrics``, in plain HTTP on a port of their own.

Knows a function that says what is missing, and the metrics page.
"""

from collections.abc import Callable, Sequence
from http import HTTPStatus

from aiohttp import web

from webhook.server import replies
from webhook.server.metrics import Metrics

HEALTHZ, READYZ, METRICS = PATHS = ("/healthz", "/readyz", "/metrics")
METHODS = ("GET", "HEAD")
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Probes:
    """The handler of the probe server."""

    def __init__(self, missing: Callable[[], Sequence[str]], metrics: Metrics) -> None:
        """Join the parts.

        Args:
            missing: Returns what is missing to be ready, one sentence each; empty = ready.
            metrics: The page to show.
        """
        self._missing = missing
        self._metrics = metrics

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the answer to one probe."""
        path = request.path
        if path not in PATHS:
            return replies.unknown_path(path, PATHS)
        if request.method not in METHODS:
            return replies.wrong_method(request.method, path, ", ".join(METHODS))
        if path == METRICS:
            return web.Response(body=self._metrics.page(), headers={"Content-Type": METRICS_TYPE})
        return replies.sentence(HTTPStatus.OK, "ok") if path == HEALTHZ else self._ready()

    def _ready(self) -> web.Response:
        missing = self._missing()
        if missing:
            return replies.sentence(HTTPStatus.SERVICE_UNAVAILABLE, "\n".join(missing))
        return replies.sentence(HTTPStatus.OK, "ready")
