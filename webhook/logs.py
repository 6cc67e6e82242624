"""JSON log lines: an event's name and its fields, one object a line, on standard error.

Rooms that await call ``logging.getLogger(__name__).info("event", extra={"fields": {…}})``; this
file decides how that is written down. A traceback is a field, and only at level debug: above
that a line says the exception in one sentence.
"""

import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TextIO

import msgspec

LEVELS = ("debug", "info", "warning", "error")

encode = msgspec.json.Encoder(enc_hook=str).encode


class Stamp:
    """Writes moments as RFC 3339 text in UTC; the second's part is made once a second."""

    def __init__(self) -> None:
        """Begin with no second."""
        self._second = -1
        self._prefix = ""

    def __call__(self, moment: float) -> str:
        """Return the text of a Unix time, with milliseconds."""
        second = int(moment)
        if second != self._second:
            self._second = second
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._prefix}.{int((moment - second) * 1000):03d}Z"


class JSONLines(logging.Formatter):
    """Writes a record as one JSON object: time (RFC 3339, UTC), level, event, then its fields."""

    def __init__(self, *, tracebacks: bool) -> None:
        """Decide whether exceptions come with their traceback."""
        super().__init__()
        self._tracebacks = tracebacks
        self._stamp = Stamp()

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        line: dict[str, object] = {
            "time": self._stamp(record.created),
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


def line_writer(
    level: str, write: Callable[[bytes], object] | None = None
) -> Callable[[str, Mapping[str, object]], None] | None:
    """Return a function that writes one line at level info, past the machinery of ``logging``.

    For the one line that each request writes: ``logging`` costs three times as much as all else
    that is done around a decision.

    Args:
        level: As in :func:`configure`; None is returned where it leaves info lines out.
        write: Takes a whole line; standard error, unbuffered, if not given.
    """
    if LEVELS.index(level) > LEVELS.index("info"):
        return None
    stamp = Stamp()
    put = write or partial(os.write, sys.stderr.fileno())

    def line(event: str, fields: Mapping[str, object]) -> None:
        head = {"time": stamp(time.time()), "level": "info", "event": event}
        # Whoever reads our lines may leave; requests are answered all the same.
        with suppress(OSError):
            put(encode({**head, **fields}) + b"\n")

    return line
