"""All objects behind one path, page by page, decoded as far as the caller needs them."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Generic, TypeVar

import msgspec

from webhook.apiserver.answers import read
from webhook.apiserver.connection import Connection
from webhook.apiserver.depth import decoded
from webhook.apiserver.errors import BrokenAnswer

Item = TypeVar("Item")


class ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "more": "continue"}):
    """Where a list stands: its resource version, and the token of the next page."""

    version: str = ""
    more: str = ""


class Page(msgspec.Struct, Generic[Item]):
    """One page of a list; ``items`` may be null."""

    metadata: ListMeta
    items: list[Item] | None = None

    def __iter__(self) -> Iterator[Item]:
        """Iterate over the objects."""
        return iter(self.items or ())


async def pages(
    connection: Connection, path: str, query: Mapping[str, str], accept: str, shape: type[Item]
) -> AsyncIterator[Page[Item]]:
    """Yield each page; the last one's version is that of the whole list.

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
        try:
            page = decoded(decode, await read(connection, path, asked, accept))
        except msgspec.MsgspecError as err:
            raise BrokenAnswer(f"list of {path}: {err}") from err
        yield page
        if more and page.metadata.more == more:
            raise BrokenAnswer(f"list of {path}: the page after this one is this one")
        more = page.metadata.more
        if not more:
            return
