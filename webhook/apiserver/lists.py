"""All objects behind one path, page by page, decoded as far as the caller needs them."""

from collections.abc import AsyncIterator, Mapping
from typing import Generic, TypeVar

import aiohttp
import msgspec

from webhook.apiserver.connection import Connection, explain
from webhook.apiserver.errors import BrokenAnswer, Silent, Unreachable

Item = TypeVar("Item")

ANSWER_SECONDS = 30.0
"""Silence within a page that means the connection is dead."""


class ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "more": "continue"}):
    """Where a list stands: its resource version, and the token of the next page."""

    version: str = ""
    more: str = ""


class Page(msgspec.Struct, Generic[Item]):
    """One page: ``items`` may be null."""

    metadata: ListMeta
    items: list[Item] | None = None


async def pages(
    connection: Connection, path: str, query: Mapping[str, str], accept: str, shape: type[Item]
) -> AsyncIterator[list[Item]]:
    """Yield the objects of each page.

    Args:
        connection: Where to ask.
        path: Of the collection.
        query: Further parameters; ``limit`` says how many make a page.
        accept: The Accept header.
        shape: What an object is decoded to; its other fields are skipped by the parser.

    Raises:
        CallFailed: Expired where the pages were read too slowly: begin again.
    """
    decode = msgspec.json.Decoder(Page[shape]).decode  # type: ignore[valid-type]
    more = ""
    while True:
        asked = {**query, "continue": more} if more else query
        response = await connection.get(path, asked, accept, ANSWER_SECONDS)
        try:
            async with response:
                page = decode(await response.read())
        except msgspec.MsgspecError as err:
            raise BrokenAnswer(f"list of {path}: {err}") from err
        except aiohttp.ServerTimeoutError as err:
            raise Silent(f"{path}: silent for {ANSWER_SECONDS:.0f} s") from err
        except (aiohttp.ClientError, OSError) as err:
            raise Unreachable(f"{path}: {explain(err)}") from err
        yield page.items or []
        if more and page.metadata.more == more:
            raise BrokenAnswer(f"list of {path}: the page after this one is this one")
        more = page.metadata.more
        if not more:
            return
