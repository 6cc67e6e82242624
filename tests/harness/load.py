"""Something done again and again in the background, and what went wrong meanwhile."""

import threading
from collections.abc import Callable

from tests.harness.lifetime import Started
from tests.harness.waiting import wait_for

THREADS = 4
JOIN_SECONDS = 60.0


class Load(Started):
    """Threads that repeat an action from :meth:`start` to :meth:`stop`; it is started once.

    Attributes:
        done: How often the action was done.
        failures: What it said or raised, each time that something was wrong.
    """

    def __init__(self, action: Callable[[], str | None], threads: int = THREADS) -> None:
        """Describe it.

        Args:
            action: Does one thing; returns what was wrong with it, or None.
            threads: How many do so at a time.
        """
        self.done = 0
        self.failures: list[str] = []
        self._action = action
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._repeat) for _ in range(threads)]

    def start(self) -> None:
        """Start all threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Return when every action under way has ended."""
        self._ended.set()
        for thread in self._threads:
            thread.join(JOIN_SECONDS)

    def wait_for_more(self, count: int = 40) -> None:
        """Return when so many actions more are done."""
        target = self.done + count
        wait_for(f"{count} more under load", lambda: self.done >= target)

    def _repeat(self) -> None:
        while not self._ended.is_set():
            try:
                failure = self._action()
            except Exception as err:  # noqa: BLE001 - any failure is what the test looks for
                failure = f"{type(err).__name__}: {err}"
            with self._lock:
                self.done += 1
                if failure is not None:
                    self.failures.append(failure)
