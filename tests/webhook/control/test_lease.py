"""The Lease as the API server keeps it."""

from datetime import UTC, datetime, timezone
from typing import Any

import pytest

from tests.fakes.writes import CUT, Answer, WritableAPI
from webhook.apiserver.connection import Connection
from webhook.apiserver.errors import (
    BrokenAnswer,
    Busy,
    CallFailed,
    Conflict,
    Forbidden,
    KindAbsent,
    Refused,
    Unreachable,
)
from webhook.control.lease import HOLD_SECONDS, MOST_TRANSITIONS, Lease, Record

FOLDER = "/apis/coordination.k8s.io/v1/namespaces/ours/leases"
PATH = f"{FOLDER}/one"
NOON = datetime(2026, 1, 2, 12, 0, 0, 345, timezone.utc)  # noqa: UP017 - the zone matters


@pytest.fixture
def lease(way: Connection) -> Lease:
    """Return a Lease that nobody made yet."""
    return Lease(way, "ours", "one", lambda: NOON.astimezone(UTC))


async def test_the_first_who_writes_makes_it(lease: Lease, writable: WritableAPI) -> None:
    """In the form of coordination/v1, with times as people read them."""
    assert await lease.read() == Record()
    taken = await lease.write(Record(), "a")
    assert (taken.holder, taken.transitions, taken.hold) == ("a", 0, HOLD_SECONDS)
    assert await lease.read() == taken
    assert writable.objects[PATH]["spec"] == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-02T12:00:00.000345Z",
        "renewTime": "2026-01-02T12:00:00.000345Z",
        "leaseTransitions": 0,
    }


async def test_of_two_who_write_at_once_one_wins(lease: Lease) -> None:
    """Where there is none yet, and where there is one."""
    taken = await lease.write(Record(), "a")
    with pytest.raises(Conflict):
        await lease.write(Record(), "b")
    await lease.write(taken, "b")
    with pytest.raises(Conflict):
        await lease.write(taken, "a")


async def test_a_lead_that_changes_hands_is_counted(lease: Lease) -> None:
    """Renewing and releasing are no changes; a released Lease asks for a second only."""
    taken = await lease.write(Record(), "a")
    renewed = await lease.write(taken, "a")
    assert (renewed.transitions, renewed.acquired) == (0, taken.acquired)
    released = await lease.write(renewed, "")
    assert (released.holder, released.hold, released.transitions) == ("", 1, 0)
    assert (await lease.write(released, "b")).transitions == 1


async def test_a_deleted_lease_cannot_be_renewed(lease: Lease, writable: WritableAPI) -> None:
    """It is no longer there: who held it has to look again."""
    taken = await lease.write(Record(), "a")
    del writable.objects[PATH]
    with pytest.raises(KindAbsent):
        await lease.write(taken, "a")


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"spec": None},
        {"spec": {"holderIdentity": None, "leaseDurationSeconds": None, "renewTime": None}},
        {"spec": {"strategy": "OldestEmulationVersion", "leaseDurationSeconds": 0}},
    ],
)
async def test_a_lease_that_says_nothing_is_free(
    lease: Lease, writable: WritableAPI, spec: dict[str, Any]
) -> None:
    """Anything may be absent."""
    writable.objects[PATH] = {"metadata": {"resourceVersion": "7"}, **spec}
    assert await lease.read() == Record(version="7")


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"metadata": {}},
        {"metadata": {"resourceVersion": ""}},
        {"metadata": {"resourceVersion": 7}},
        {"metadata": {"resourceVersion": "7"}, "spec": 7},
        {"metadata": {"resourceVersion": "7"}, "spec": {"holderIdentity": 7}},
        {"metadata": {"resourceVersion": "7"}, "spec": {"leaseDurationSeconds": "15"}},
        {"metadata": {"resourceVersion": "7"}, "spec": {"leaseTransitions": []}},
    ],
)
async def test_what_is_no_lease_is_a_broken_answer(
    lease: Lease, writable: WritableAPI, odd: dict[str, Any]
) -> None:
    """Not a mistake that would end the competition."""
    writable.objects[PATH] = odd
    with pytest.raises(BrokenAnswer, match="Lease: "):
        await lease.read()


async def test_a_count_that_is_full_stays(lease: Lease, writable: WritableAPI) -> None:
    """One more would not fit the field, and nobody could ever lead again."""
    full = {"metadata": {"resourceVersion": "7"}, "spec": {"leaseTransitions": MOST_TRANSITIONS}}
    writable.objects[PATH] = full
    taken = await lease.write(await lease.read(), "a")
    assert taken.transitions == MOST_TRANSITIONS


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(403), Forbidden),
        (Answer(422), Refused),
        (Answer(429), Busy),
        (Answer(500, "text"), Busy),
        (Answer(CUT), Unreachable),
        (Answer(200, "[]"), BrokenAnswer),
        (Answer(200, "{"), BrokenAnswer),
    ],
)
async def test_every_trouble_is_a_failed_call(
    lease: Lease, writable: WritableAPI, answer: Answer, error: type[CallFailed]
) -> None:
    """Of reading and of writing."""
    writable.refuse("GET", PATH, answer)
    writable.refuse("POST", FOLDER, answer)
    with pytest.raises(error):
        await lease.read()
    with pytest.raises(error):
        await lease.write(Record(), "a")
