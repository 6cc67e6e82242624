"""Wait for what happens soon, without saying when."""

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 10.0
STEP_SECONDS = 0.005


async def eventually(claim: Callable[[], object], what: str = "the claim") -> None:
    """Return as soon as a claim holds; fail where it does not hold for very long."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not claim():  # noqa: ASYNC110 - claims are about anything
                await asyncio.sleep(STEP_SECONDS)
    except TimeoutError:
        raise AssertionError(f"{what} did not come true") from None
