"""How many objects say something, and for whom: counts that follow the objects one by one.

What one object says is taken back without a look at the others.
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import TypeAlias, TypeVar

from immutables import Map

from policies.overlay import Overlay

Key = TypeVar("Key", bound=Hashable)
Counts: TypeAlias = Map[str, int]
"""For whom, and how many objects say so; never zero."""


def count(tally: Overlay[Key, Counts], key: Key, whom: str, step: int) -> None:
    """Note that objects more or fewer say something, in place.

    Args:
        tally: The counts; what is said by nobody is not in it.
        key: What is said.
        whom: For whom.
        step: 1 for an object that came, -1 for one that was counted and went.
    """
    counts = tally.get(key) or Map()
    number = counts.get(whom, 0) + step
    counts = counts.set(whom, number) if number else counts.delete(whom)
    if len(counts) == 1 and number == 1:
        counts = _once(whom)
    if counts:
        tally.put(key, counts)
    else:
        tally.drop(key)


@lru_cache(maxsize=1024)
def _once(whom: str) -> Counts:
    """Return a value that all share what is said once, for the same: so is nearly everything."""
    return Map({whom: 1})
