"""Long work in short turns: requests are answered by the same loop, so nobody keeps it for long."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

Item = TypeVar("Item")

STEPS = 50
"""Steps of a few microseconds that make a turn, well below a millisecond."""


async def gently(items: Iterable[Item], steps: int = STEPS) -> AsyncIterator[Item]:
    """Yield items, and let others run in between.

    Args:
        items: Worked out one by one, as far as they are asked for.
        steps: How many of them make a turn.
    """
    for number, item in enumerate(items, 1):
        yield item
        if number % steps == 0:
            await asyncio.sleep(0)
