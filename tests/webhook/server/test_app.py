"""What the API server gets for what it sends, over real TLS."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from tests.fakes.eventually import eventually
from tests.fakes.reviews import DOUBTED, answer, decision, doubted, not_ready
from tests.webhook.server.conftest import Site
from webhook.admission.errors import MalformedReview
from webhook.server.app import budget


async def test_a_review_is_answered_with_what_the_core_says(site: Site) -> None:
    """The body goes to the core as it came; the core's bytes come back as JSON with 200."""
    response = await site.post(b'{"request": 1}')
    assert response.status == 200
    assert response.content_type == "application/json"
    assert await response.read() == b'{"kind":"AdmissionReview"}'
    assert site.core.bodies == [b'{"request": 1}']


async def test_each_path_has_a_core_of_its_own(site: Site) -> None:
    """What is posted to /validate is judged there, and counted under that path."""
    site.checks.result = answer(b'{"kind":"checked"}', kind="RDMAPolicy", verdict="Unchanged")
    async with site.client.post(f"{site.base}/validate", json={}) as response:
        assert await response.read() == b'{"kind":"checked"}'
    assert (site.checks.bodies, site.core.bodies) == ([b"{}"], [])
    page = site.metrics.page().decode()
    assert 'requests_total{code="200",path="/validate"} 1.0' in page
    assert 'decisions_total{dry_run="false",kind="RDMAPolicy",reason="",verdict="Unch' in page


async def test_a_connection_is_kept(site: Site) -> None:
    """Many reviews go through one connection: a handshake costs more than a review."""
    reader, writer = await site.dial()
    for _ in range(3):
        writer.write(b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert b"close" not in head.lower()
        await reader.readexactly(len(b'{"kind":"AdmissionReview"}'))
    writer.close()


@pytest.mark.parametrize("path", ["/", "/validate/", "/review", "/mutate/", "/metrics", "/healthz"])
async def test_other_paths_are_404_with_a_sentence(site: Site, path: str) -> None:
    """What this port does not have is said, with what it has."""
    async with site.client.post(site.base + path, data=b"{}") as response:
        assert response.status == 404
        assert await response.text() == f"{path}: unknown path, want /mutate or /validate\n"


@pytest.mark.parametrize("path", ["/a%0Ab%1B%5B31m", "/" + "a" * 4000], ids=["escapes", "long"])
async def test_what_a_client_wrote_comes_back_short_and_printable(site: Site, path: str) -> None:
    """A stranger's path writes no second line and no colour."""
    reader, writer = await site.dial()
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404")
    text = (await reader.readline()).decode()
    assert text.strip().isprintable()
    assert text.endswith(": unknown path, want /mutate or /validate\n")
    assert len(text) < 300
    writer.close()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_other_methods_are_405_with_allow(site: Site, method: str) -> None:
    """The method that works is named, in Allow too."""
    async with site.client.request(method, f"{site.base}/mutate") as response:
        assert response.status == 405
        assert response.headers["Allow"] == "POST"
        assert await response.text() == f"/mutate: method: got {method}, want POST\n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json"}, 200),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Content-Type": "Application/JSON"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
    ],
)
async def test_only_plain_json_is_read(site: Site, headers: dict[str, str], status: int) -> None:
    """Another content type or an encoding is refused with a sentence."""
    async with site.client.post(f"{site.base}/mutate", data=b"{}", headers=headers) as response:
        assert response.status == status
        if status == 415:
            assert (await response.text()).count("\n") == 1


async def test_a_body_that_says_it_is_too_large_is_413_before_it_is_sent(site: Site) -> None:
    """Content-Length alone is enough to refuse."""
    reader, writer = await site.dial()
    writer.write(b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n{")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in head.lower()
    writer.close()
    assert site.core.bodies == []


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_body_that_grows_too_large_is_413(site: Site, is_chunked: bool) -> None:  # noqa: FBT001
    """The cap counts what arrives, also where no length was announced."""
    if is_chunked:

        async def body() -> AsyncIterator[bytes]:
            for _ in range(20):
                yield b"x" * 8192

        data: object = body()
    else:
        data = b"x" * 160_000
    async with site.client.post(
        f"{site.base}/mutate", data=data, headers={"Content-Type": "application/json"}
    ) as response:
        assert response.status == 413
        assert "want at most 65536" in await response.text()
    assert site.core.bodies == []


async def test_a_chunked_body_within_the_limit_is_read(site: Site) -> None:
    """Chunks are put together."""
    reader, writer = await site.dial()
    writer.write(b"POST /mutate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for piece in (b'{"a', b'":', b"1}"):
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        await writer.drain()
        await asyncio.sleep(0.01)
    writer.write(b"0\r\n\r\n")
    assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
    assert site.core.bodies == [b'{"a":1}']
    writer.close()


async def test_a_client_that_waits_to_continue_is_told_to(site: Site) -> None:
    """Expect: 100-continue, as curl sends it, is answered at once."""
    reader, writer = await site.dial()
    writer.write(
        b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    )
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"{}")
    assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_a_half_sent_body_is_408_and_the_connection_closed(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """Who stops in the middle of a body holds nothing, and fills no log."""
    with caplog.at_level(logging.INFO):
        reader, writer = await site.dial()
        writer.write(b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 408")
        assert await asyncio.wait_for(reader.read(), 10)
        writer.close()
    assert idle(site)
    assert caplog.records == []


async def test_a_client_that_leaves_within_a_body_is_nobodys_problem(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """A cut connection is no error of ours."""
    with caplog.at_level(logging.INFO):
        _, writer = await site.dial()
        writer.write(b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        await eventually(lambda: site.reviews.intake.arriving == 1)
        writer.transport.abort()
        await eventually(lambda: idle(site))
    assert caplog.records == []


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01\x02 nonsense\r\n\r\n",
        b"GARBAGE\r\n\r\n",
        b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
    ],
    ids=["bytes", "word", "length", "long"],
)
async def test_what_is_no_http_is_400_and_no_traceback(
    site: Site, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    """A port scanner gets a sentence that shows nothing of what it sent; the log stays quiet."""
    with caplog.at_level(logging.INFO):
        reader, writer = await site.dial()
        writer.write(sent)
        assert (await reader.readuntil(b"\r\n")).split()[1] == b"400"
        body = (await asyncio.wait_for(reader.read(), 10)).partition(b"\r\n\r\n")[2]
        assert body == b"request: not readable as HTTP/1.1\n"
        writer.close()
    assert [one for one in caplog.records if one.levelno > logging.DEBUG] == []


async def test_a_malformed_review_is_the_cores_status_and_sentence(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """What is no AdmissionReview is a client error, and says why; the log says who sent it."""
    site.core.result = MalformedReview("request.uid: absent, want a text")
    response = await site.post()
    assert response.status == 400
    assert await response.text() == "request.uid: absent, want a text\n"
    (record,) = [one for one in caplog.records if one.message == "review_refused"]
    assert record.__dict__["fields"]["client"] == "127.0.0.1"


async def test_the_unexpected_is_500_with_the_details_in_the_log_alone(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistake of ours is said without its insides; the next review is answered."""
    site.core.result = KeyError("secret-value")
    with caplog.at_level(logging.ERROR):
        response = await site.post()
    assert response.status == 500
    assert "secret-value" not in await response.text()
    assert [one.message for one in caplog.records] == ["review_failed"]
    assert caplog.records[0].exc_info is not None
    site.core.result = answer()
    assert (await site.post()).status == 200


async def test_each_decision_is_one_log_line(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """The line says which pod, what became of it and how long it took."""
    with caplog.at_level(logging.INFO):
        for verdict, reason in (("Patched", ""), ("Denied", "NotGranted"), ("Unchanged", "")):
            site.core.result = answer(verdict=verdict, reason=reason, message="because")
            await site.post()
    events = [one.message for one in caplog.records]
    assert events == ["pod_patched", "pod_refused", "pod_unchanged"]
    fields = [one.__dict__["fields"] for one in caplog.records]
    assert fields[0]["uid"] == "u-1"
    assert fields[0]["namespace"] == "team"
    assert fields[0]["pod"] == "train-*"
    assert fields[0]["networks"] == ("train-ib",)
    assert fields[0]["duration_ms"] >= 0
    assert "reason" not in fields[0]
    assert fields[1]["reason"] == "NotGranted"
    assert fields[1]["message"] == "because"


async def test_decisions_and_requests_are_counted(site: Site) -> None:
    """Verdicts by reason and dry run; requests by path and status, other paths as one."""
    await site.post()
    site.core.result = answer(verdict="Denied", reason="NotGranted", dry_run=True)
    await site.post()
    async with site.client.post(f"{site.base}/wp-login.php"):
        pass
    sample = site.metrics.registry.get_sample_value
    name = "rdma_webhook_decisions_total"
    patched = {"kind": "Pod", "verdict": "Patched", "reason": "", "dry_run": "false"}
    assert sample(name, patched) == 1
    refused = {"kind": "Pod", "verdict": "Denied", "reason": "NotGranted", "dry_run": "true"}
    assert sample(name, refused) == 1
    name = "rdma_webhook_requests_total"
    assert sample(name, {"path": "/mutate", "code": "200"}) == 2
    assert sample(name, {"path": "other", "code": "404"}) == 1


Writers = list[asyncio.StreamWriter]


def idle(site: Site) -> bool:
    """Tell whether nothing is taken in."""
    intake = site.reviews.intake
    return (intake.in_flight, intake.arriving, intake.held) == (0, 0, 0)


async def begin(site: Site, count: int, length: int = 100, sent: bytes = b"{") -> Writers:
    """Send heads and a part of their bodies, and wait until they are there."""
    before, writers = site.reviews.intake.arriving, []
    for _ in range(count):
        _, writer = await site.dial()
        head = b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % length + sent)
        writers.append(writer)
    await eventually(lambda: site.reviews.intake.arriving == before + count)
    return writers


async def test_clients_that_send_only_a_head_take_no_place(site: Site) -> None:
    """More of them than requests may be in flight, and the next review is answered."""
    writers = await begin(site, 5)
    assert site.reviews.intake.in_flight == 0
    assert (await site.post()).status == 200
    for writer in writers:
        writer.close()
    await eventually(lambda: idle(site))


async def test_too_many_bodies_under_way_are_429_at_once(site: Site) -> None:
    """The next body is not begun, and places are given back."""
    writers = await begin(site, 6)
    reader, writer = await site.dial()
    writer.write(b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429")
    assert b"Retry-After: 1" in head
    assert await reader.readline() == b"overloaded: 6 bodies are being read already; try again\n"
    assert site.reviews.shed == 1
    for one in (*writers, writer):
        one.close()
    await eventually(lambda: idle(site))
    assert (await site.post()).status == 200


async def test_too_many_bytes_are_429(site: Site) -> None:
    """What arrived counts, whatever was announced, until it is answered."""
    writers = await begin(site, 2, 60_000, b"x" * 40_000)
    await eventually(lambda: site.reviews.intake.held == 80_000)
    response = await site.post(b"x" * 30_000)
    assert response.status == 429
    assert (
        await response.text() == "overloaded: 80000 bytes of bodies are held already; try again\n"
    )
    assert (await site.post(b"x" * 10_000)).status == 200
    for writer in writers:
        writer.close()
    await eventually(lambda: idle(site))


async def test_what_is_announced_costs_others_nothing(site: Site) -> None:
    """Heads that announce more than may be held leave the room to those that send."""
    writers = await begin(site, 4, 60_000)
    assert (await site.post(b"x" * 50_000)).status == 200
    for writer in writers:
        writer.close()


async def test_too_many_complete_bodies_at_a_time_are_429(site: Site) -> None:
    """Those for which there is no place are told to come back; the others are answered."""
    intake = site.reviews.intake
    intake.in_flight = 4
    response = await site.post()
    assert response.status == 429
    assert response.headers["Retry-After"] == "1"
    assert await response.text() == "overloaded: 4 requests are in flight already; try again\n"
    assert site.core.bodies == []
    intake.in_flight = 3
    assert (await site.post()).status == 200
    assert (intake.in_flight, intake.arriving, intake.held) == (3, 0, 0)


async def test_pods_that_wait_take_no_place_from_others(site: Site) -> None:
    """A new namespace whose pods wait does not shut the other tenants out."""
    site.core.result = lambda body, _: not_ready() if body == b"wait" else answer()
    waiting = [asyncio.create_task(site.post(b"wait")) for _ in range(10)]
    await eventually(lambda: site.reviews.waiting() == 10)
    assert site.reviews.intake.in_flight == 0
    assert site.reviews.intake.held == 10 * len(b"wait")
    assert (await site.post(b"go")).status == 200
    site.core.result = answer()
    site.desk.change()
    assert {one.status for one in await asyncio.gather(*waiting)} == {200}
    assert idle(site)


async def test_a_doubted_answer_takes_one_look(site: Site) -> None:
    """A policy that was changed just before the pod counts."""
    site.core.result = doubted()
    assert await (await site.post()).read() == b'"doubted"'
    site.desk.fetch_changes = True
    results = [doubted(), answer()]
    site.core.result = lambda *_: results.pop(0)
    assert await (await site.post()).read() == b'{"kind":"AdmissionReview"}'
    assert site.desk.asked == [DOUBTED, DOUBTED]
    assert idle(site)


async def test_while_draining_every_answer_closes_its_connection(site: Site) -> None:
    """Requests are still answered, and API servers dial another replica."""
    site.reviews.draining = True
    response = await site.post()
    assert response.status == 200
    assert response.headers["Connection"] == "close"


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [("1s", 0.8), ("3s", 2.8), ("30s", 2.8), ("", 2.8), ("soon", 2.8), ("0s", 0.0)],
)
def test_the_budget_is_the_callers_timeout_less_the_way_back(timeout: str, seconds: float) -> None:
    """Never longer than our own registration's timeout, and never negative."""
    assert budget(timeout) == pytest.approx(seconds)


def test_the_log_line_has_no_pod_content() -> None:
    """A decision has no field for environment values, tokens or whole pods."""
    assert set(type(decision()).__struct_fields__) == {
        *("uid", "namespace", "kind", "name", "operation", "dry_run", "verdict", "reason"),
        *("message", "networks", "policy", "ops", "warnings"),
    }
