"""What statuses and broken connections mean."""

import aiohttp
import pytest

from tests.fakes.apiserver import FakeAPI, LoopbackAccess, Refusal
from webhook.apiserver.connection import Connection, explain, refusal
from webhook.apiserver.errors import (
    Busy,
    CallFailed,
    Expired,
    Forbidden,
    KindAbsent,
    Unauthorized,
    Unreachable,
)


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        (401, "", Unauthorized),
        (403, "", Forbidden),
        (404, "", KindAbsent),
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
