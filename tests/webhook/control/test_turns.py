"""Long work, cut into turns."""

import asyncio

from webhook.control.turns import gently


async def test_others_run_in_between() -> None:
    """After so many items, and each item comes once and in its order."""
    turns, found = 0, list[int]()

    async def work() -> None:
        async for item in gently(range(1000), 10):
            found.append(item)

    task = asyncio.create_task(work())
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert found == list(range(1000))
    assert turns >= 100
