"""How log lines look."""

import io
import json
import logging
import warnings
from collections.abc import Iterator

import pytest

from webhook import logs


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Leave logging as it was found."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in ("webhook", "certs")}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for name, one in levels.items():
        logging.getLogger(name).setLevel(one)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = True


def written(level: str, act: object) -> list[dict[str, object]]:
    """Return the lines that something writes at a level."""
    assert callable(act)
    stream = io.StringIO()
    logs.configure(level, stream)
    act()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_its_fields() -> None:
    """Time, level and event come first, then the fields as they are."""
    log = logging.getLogger("webhook.server")
    (line,) = written(
        "info", lambda: log.info("pod_patched", extra={"fields": {"ops": 3, "networks": ("a",)}})
    )
    assert list(line) == ["time", "level", "event", "ops", "networks"]
    assert (line["level"], line["event"], line["ops"]) == ("info", "pod_patched", 3)
    assert str(line["time"]).endswith("Z")


def test_text_is_escaped_and_stays_one_line() -> None:
    """Line breaks and quotes in a field cannot forge another line."""
    log = logging.getLogger("webhook.server")
    (line,) = written("info", lambda: log.info("x", extra={"fields": {"a": 'b"\n{"c": 1}'}}))
    assert line["a"] == 'b"\n{"c": 1}'


def test_a_field_of_any_type_is_written() -> None:
    """What JSON does not know becomes text; a log call never raises."""
    log = logging.getLogger("webhook.server")
    (line,) = written("info", lambda: log.info("x", extra={"fields": {"a": object, "b": 1j}}))
    assert line["b"] == "1j"


def fail() -> None:
    """Log an exception."""
    try:
        dict[str, int]()["inner"]
    except KeyError:
        logging.getLogger("webhook.server").exception("review_failed")


def test_tracebacks_are_for_debug_alone() -> None:
    """Above debug an exception is its type and text; at debug the traceback is a field."""
    (line,) = written("info", fail)
    assert line["exception"] == "KeyError: 'inner'"
    assert "traceback" not in line
    (line,) = written("debug", fail)
    assert "in fail" in str(line["traceback"])


def test_levels_hold_for_our_rooms_and_libraries_are_quieter() -> None:
    """Debug is ours; a library's info is nobody's business."""

    def act() -> None:
        logging.getLogger("webhook.watch").debug("ours")
        logging.getLogger("aiohttp").info("theirs")
        logging.getLogger("aiohttp").warning("their %s", "warning")

    lines = written("debug", act)
    assert [line["event"] for line in lines] == ["ours", "their warning"]
    assert lines[1]["logger"] == "aiohttp"
    assert [line["event"] for line in written("error", act)] == []


def test_python_warnings_are_lines_too() -> None:
    """Nothing but JSON reaches the stream."""

    def act() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            logging.captureWarnings(capture=True)
            warnings.warn("old", UserWarning, stacklevel=1)

    (line,) = written("info", act)
    assert line["level"] == "warning"
    assert "old" in str(line["event"])


def test_the_fast_lines_look_like_the_others() -> None:
    """A decision's line has the same head, whoever wrote it."""
    found: list[bytes] = []
    line = logs.line_writer("info", found.append)
    assert line is not None
    line("pod_patched", {"ops": 3})
    log = logging.getLogger("webhook.server")
    (other,) = written("info", lambda: log.info("pod_patched", extra={"fields": {"ops": 3}}))
    assert found[0].endswith(b"}\n")
    assert list(json.loads(found[0])) == list(other)
    assert {**json.loads(found[0]), "time": 0} == {**other, "time": 0}


def test_a_reader_that_left_is_no_error() -> None:
    """A closed pipe does not fail the request that wants to write to it."""

    def write(_: bytes) -> None:
        raise BrokenPipeError

    line = logs.line_writer("info", write)
    assert line is not None
    line("pod_patched", {})


def test_above_info_nobody_writes_fast_lines() -> None:
    """At warning there is no function to call."""
    assert logs.line_writer("warning") is None
    assert logs.line_writer("debug", print) is not None
