"""What statuses and broken connections mean."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.fakes.apiserver import FakeAPI, LoopbackAccess, Refusal
from tests.fakes.writes import CUT, Answer, WritableAPI
from webhook.apiserver.connection import Connection, explain, refusal
from webhook.apiserver.errors import (
    BrokenAnswer,
    Busy,
    CallFailed,
    Conflict,
    Expired,
    Forbidden,
    KindAbsent,
    Refused,
    Unauthorized,
    Unreachable,
)


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        (401, "", Unauthorized),
        (403, "", Forbidden),
        (404, "", KindAbsent),
        (409, "", Conflict),
        (422, "", Refused),
        (410, "", Expired),
        (504, "Too large resource version: 9", Expired),
        (504, "timeout", Busy),
        (429, "", Busy),
        (500, "", Busy),
        (302, "", Busy),
    ],
)
def test_each_status_is_the_error_that_says_what_to_do(
    status: int, text: str, error: type[CallFailed]
) -> None:
    """A 504 is Expired only where it says that the version is ahead of this API server."""
    assert type(refusal(status, text)) is error


def test_a_retry_after_that_is_no_number_counts_as_none() -> None:
    """A date or garbage in Retry-After is no reason to fail."""
    found = refusal(429, "", "Wed, 21 Oct 2026 07:28:00 GMT")
    assert isinstance(found, Busy)
    assert found.retry_after == 0.0


async def test_a_status_object_is_said_by_its_message(api: FakeAPI, connection: Connection) -> None:
    """The API server's JSON becomes its one sentence."""
    api.refuse("Namespace", Refusal(403, '{"kind":"Status","message":"no\\nright","code":403}'))
    with pytest.raises(Forbidden, match=r"API server: 403: /api/v1/namespaces: no right$"):
        await connection.get("/api/v1/namespaces", {}, "a/b", 5.0)


async def test_a_refused_connection_is_said_without_python(access: LoopbackAccess) -> None:
    """Host, port and reason; no object's address, so that the same trouble reads the same."""
    access.base = "http://127.0.0.1:1"
    connection = Connection(access)
    with pytest.raises(Unreachable) as found:
        await connection.get("/x", {}, "a/b", 5.0)
    await connection.close()
    assert str(found.value).startswith("API server: /x: cannot connect to 127.0.0.1:1: ")
    assert "object at" not in str(found.value)


@pytest.mark.parametrize(
    ("err", "text"),
    [
        (aiohttp.ClientPayloadError("400, message"), "the answer was cut off"),
        (aiohttp.ServerDisconnectedError(), "the connection was closed"),
        (TimeoutError(), "no answer in time"),
        (OSError(), "OSError"),
        (ValueError("a\nb"), "a b"),
    ],
)
def test_what_happened_is_said_in_words(err: Exception, text: str) -> None:
    """Never empty, never two lines."""
    assert explain(err).startswith(text)
    assert "\n" not in explain(err)


@pytest.fixture
async def way(access: LoopbackAccess) -> AsyncIterator[tuple[WritableAPI, Connection]]:
    """Return an API server that can be written to, and a connection to it."""
    async with WritableAPI() as found:
        access.base = found.base
        connection = Connection(access)
        yield found, connection
        await connection.close()


async def test_a_call_sends_json_and_returns_the_answers_object(
    way: tuple[WritableAPI, Connection],
) -> None:
    """With its type, its parameters and our credentials."""
    api, connection = way
    body = {"metadata": {"name": "é"}, "spec": {"n": 1}}
    found = await connection.call("POST", "/folder", {"a": "b"}, body, kind="x/y")
    assert found["spec"] == {"n": 1}
    (deed,) = api.deeds
    assert (deed.method, deed.body, deed.query) == ("POST", body, {"a": "b"})
    assert deed.headers["Content-Type"] == "x/y"
    assert deed.headers["Authorization"] == "Bearer token-0"
    assert await connection.call("GET", "/folder/é", {}, kind="x/y") == found
    assert api.deeds[1].body is None


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(401), Unauthorized),
        (Answer(403), Forbidden),
        (Answer(404), KindAbsent),
        (Answer(409), Conflict),
        (Answer(422), Refused),
        (Answer(429, headers={"Retry-After": "7"}), Busy),
        (Answer(500, ""), Busy),
        (Answer(CUT), Unreachable),
        (Answer(200, ""), BrokenAnswer),
        (Answer(200, "[]"), BrokenAnswer),
        (Answer(200, '{"a": '), BrokenAnswer),
    ],
)
async def test_a_call_that_fails_says_what_to_do(
    way: tuple[WritableAPI, Connection], answer: Answer, error: type[CallFailed]
) -> None:
    """In one line that names the path."""
    api, connection = way
    api.refuse("PATCH", "/one", answer)
    with pytest.raises(error) as found:
        await connection.call("PATCH", "/one", {}, {}, kind="x/y")
    assert "/one" in str(found.value)
    assert "\n" not in str(found.value)
    if isinstance(found.value, Busy):
        assert found.value.retry_after == float(answer.headers.get("Retry-After", 0))
