"""How long a call takes, on a machine that others use too."""

import gc
import time
from collections.abc import Callable
from itertools import cycle, islice
from typing import Final, TypeVar

Item = TypeVar("Item")
MICRO: Final = 1_000_000


def micros(
    call: Callable[[Item], object], items: list[Item], rounds: int, calls: int = 50
) -> float:
    """Return the microseconds of one call: the quickest of some rounds, each a mean.

    The quickest is what the code costs; what comes on top is what others do meanwhile.

    Args:
        call: What to measure.
        items: What it is called with, in turn.
        rounds: How many means are taken.
        calls: Of which each is the mean.
    """
    several = list(islice(cycle(items), calls))
    best = float("inf")
    gc.collect()
    for _ in range(rounds):
        started = time.perf_counter()
        for one in several:
            call(one)
        best = min(best, time.perf_counter() - started)
    return best / calls * MICRO
