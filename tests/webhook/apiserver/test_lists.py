"""Collections, page by page."""

import json
from typing import Any

import aiohttp
import msgspec
import pytest

from tests.fakes.apiserver import FakeAPI, Refusal
from webhook.apiserver.connection import Connection
from webhook.apiserver.errors import BrokenAnswer, CallFailed, Expired, Forbidden, Silent
from webhook.apiserver.lists import pages

PATH = "/api/v1/namespaces"


class Named(msgspec.Struct):
    """An object of which nothing counts but its kind."""

    kind: str


async def read(connection: Connection) -> list[list[Named]]:
    """Return the pages of all namespaces."""
    return [list(page) async for page in pages(connection, PATH, {"limit": "2"}, "a/b", Named)]


def page(**fields: Any) -> Refusal:  # noqa: ANN401 - any JSON
    """Return a scripted page."""
    return Refusal(200, json.dumps(fields))


async def test_every_page_is_read(api: FakeAPI, connection: Connection) -> None:
    """With the token of the one before, and the caller's own parameters."""
    for number in range(5):
        api.put("Namespace", f"n{number}")
    assert [len(one) for one in await read(connection)] == [2, 2, 1]
    assert [dict(seen.query) for seen in api.seen] == [
        {"limit": "2"},
        {"limit": "2", "continue": "2"},
        {"limit": "2", "continue": "4"},
    ]
    assert {seen.headers["Accept"] for seen in api.seen} == {"a/b"}


async def test_an_empty_collection_is_one_empty_page(api: FakeAPI, connection: Connection) -> None:
    """Go writes null for it."""
    api.refuse("Namespace", page(metadata={}, items=None))
    assert await read(connection) == [[]]
    api.refuse("Namespace", page(metadata={}))
    assert await read(connection) == [[]]


@pytest.mark.parametrize(
    "odd",
    [
        page(),
        page(metadata=None),
        page(metadata={"continue": 7}),
        page(metadata={}, items={}),
        page(metadata={}, items=[7]),
        page(metadata={}, items=[{}]),
        Refusal(200, "[]"),
        Refusal(200, '{"metadata": {}, "items": ['),
    ],
)
async def test_what_is_no_list_is_a_broken_answer(
    api: FakeAPI, connection: Connection, odd: Refusal
) -> None:
    """Said with the path."""
    api.refuse("Namespace", odd)
    with pytest.raises(BrokenAnswer, match=f"list of {PATH}: "):
        await read(connection)


async def test_a_page_that_leads_to_itself_is_not_read_for_ever(
    api: FakeAPI, connection: Connection
) -> None:
    """Whoever answers so would be asked without end and without a pause."""
    api.refuse("Namespace", *(page(metadata={"continue": "again"}) for _ in range(10)))
    with pytest.raises(BrokenAnswer, match="the page after this one is this one"):
        await read(connection)
    assert len(api.seen) == 2


@pytest.mark.parametrize(("status", "error"), [(410, Expired), (403, Forbidden)])
async def test_trouble_on_a_later_page_is_the_callers(
    api: FakeAPI, connection: Connection, status: int, error: type[CallFailed]
) -> None:
    """As on the first one."""
    for number in range(3):
        api.put("Namespace", f"n{number}")
    api.refuse("Namespace", Refusal(status, only="continue"))
    with pytest.raises(error):
        await read(connection)


async def test_silence_within_a_page_is_said(
    api: FakeAPI, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that says nothing is taken for dead."""
    api.put("Namespace", "n")

    async def silent(_: object) -> bytes:
        raise aiohttp.SocketTimeoutError

    monkeypatch.setattr(aiohttp.ClientResponse, "read", silent)
    with pytest.raises(Silent, match="nothing whole came for"):
        await read(connection)
