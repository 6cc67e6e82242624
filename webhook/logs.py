"""JSON log lines: an event's name and its fields, one object a line, on standard error.

Rooms that await call ``logging.getLogger(__name__).info("event", extra={"fields": {…}})``; this
file decides how that is written down. A traceback is a field, and only at level debug: above
that a line says the exception in one sentence.
"""

import logging
import sys
import time
import traceback
from collections.abc import Mapping
from typing import TextIO

import msgspec

LEVELS = ("debug", "info", "warning", "error")

encode = msgspec.json.Encoder(enc_hook=str).encode


class JSONLines(logging.Formatter):
    """Writes a record as one JSON object: time (RFC 3339, UTC), level, event, then its fields."""

    def __init__(self, *, tracebacks: bool) -> None:
        """Decide whether exceptions come with their traceback."""
        super().__init__()
        self._tracebacks = tracebacks
        self._second = -1
        self._prefix = ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        line: dict[str, object] = {
            "time": self._time(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage() if record.args else str(record.msg),
        }
        fields = getattr(record, "fields", None)
        if isinstance(fields, Mapping):
            line.update(fields)
        else:
            line["logger"] = record.name
        if record.exc_info and record.exc_info[1] is not None:
            self._add_exception(line, record.exc_info[1])
        return encode(line).decode()

    def _time(self, created: float) -> str:
        second = int(created)
        if second != self._second:
            self._second = second
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._prefix}.{int((created - second) * 1000):03d}Z"

    def _add_exception(self, line: dict[str, object], err: BaseException) -> None:
        line["exception"] = f"{type(err).__name__}: {err}"
        if self._tracebacks:
            line["traceback"] = "".join(traceback.format_exception(err))


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send every log line of the process to one stream, as JSON.

    Args:
        level: One of :data:`LEVELS`. ``debug`` concerns our own rooms and tracebacks; libraries
            stay at warning.
        stream: Where lines go; standard error if not given.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JSONLines(tracebacks=level == "debug"))
    handler.setLevel(level.upper())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for room in ("webhook", "certs"):
        logging.getLogger(room).setLevel(level.upper())
    logging.captureWarnings(capture=True)
    # What no line of ours prints is not collected (logging's HOWTO, "Optimization").
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
