"""Waiting for something to become true, with a message that says what never did."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.25


class TimedOut(AssertionError):
    """What a test waited for did not happen in time."""


def wait_for(what: str, check: Callable[[], Result | None], timeout: float = 30.0) -> Result:
    """Return the first truthy result of ``check``, asking again until the time is over.

    Args:
        what: What is waited for, as a person would say it; it opens the error message.
        check: Called again and again; it may raise, which counts as "not yet".
        timeout: Seconds.

    Raises:
        TimedOut: Naming ``what`` and what ``check`` said last.
    """
    deadline = time.monotonic() + timeout
    pause = FIRST_PAUSE
    while True:
        last: object
        try:
            result = check()
        except Exception as err:  # noqa: BLE001 - any failure of the check means "not yet"
            last = f"{type(err).__name__}: {err}"
        else:
            if result:
                return result
            last = result
        if time.monotonic() >= deadline:
            raise TimedOut(f"{what}: not within {timeout:g} s; the last answer was {last!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
