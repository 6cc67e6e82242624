"""The whole room at work: whatever happens, in the end every object says how it stands."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies import inventory
from policies.changes import Gone, Put
from policies.standing import network as networks
from policies.standing import partition as partitions
from policies.standing import policy as standing
from tests.fakes.apiserver import LoopbackAccess
from tests.fakes.eventually import eventually
from tests.fakes.writes import CUT, Answer, WritableAPI, path_of
from tests.harness.cluster import claim, granted, nad, network, policy, rail
from tests.webhook.control.conftest import NODES, PODS, Room, running
from webhook.apiserver.connection import Connection
from webhook.apiserver.pace import Pace
from webhook.control import conditions, controller
from webhook.control.keys import Key

TOKENS = network("tokens", "DeviceOnly", rail("r0", "rdma/ib"))
HURRIED = 100.0
"""How much faster than real time it goes here."""


def hurried() -> Pace:
    """Return a pace in which seconds are hundredths."""
    return Pace(
        clock=lambda: time.monotonic() * HURRIED,
        sleep=lambda seconds: asyncio.sleep(seconds / HURRIED),
        uniform=lambda _low, high: high / HURRIED,
    )


@contextlib.asynccontextmanager
async def joined() -> AsyncIterator[Room]:
    """Give a room that its own writes reach through the watch."""
    async with WritableAPI() as api:
        connection = Connection(LoopbackAccess(api.base))
        room = Room(api, connection, hurried())
        api.told = lambda found: room.hear(Put(found["kind"], found))
        try:
            yield room
        finally:
            await connection.close()


@contextlib.asynccontextmanager
async def led(room: Room) -> AsyncIterator[None]:
    """Lead, until the end of the block."""
    task = asyncio.create_task(room.controller.lead())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def wanted(room: Room, found: dict[str, Any]) -> int:
    """Return the digest of what an object of the API server should say."""
    kind, metadata, known = found["kind"], found["metadata"], room.snapshot
    if kind == "RDMANetwork":
        model = known.networks[metadata["name"]]
        said = networks.stand(known, model, inventory.resources(known, model))
    elif kind == "RDMAPartition":
        said = partitions.stand(known, metadata["name"])
    else:
        said = standing.stand(known, metadata["namespace"], ())
    return conditions.digest(conditions.status(said, metadata["generation"], {}, ""))


def untrue(room: Room) -> list[str]:
    """Return the objects whose status is not what it should be."""
    return [
        path
        for path, found in room.api.objects.items()
        if path.startswith("/apis/rdma.io/")
        and conditions.digest(found.get("status") or {}) != wanted(room, found)
    ]


# ------------------------------------------------------------------- one by one


async def test_everything_is_looked_at_first_and_then_what_changes() -> None:
    """Only what the leader was not told of waits for the look at everything."""
    async with joined() as room:
        room.put(TOKENS, policy("tokens"))
        async with led(room):
            await eventually(lambda: not untrue(room))
            room.put(policy("tokens", "later"))
            await eventually(lambda: not untrue(room))
            room.put(network("later", "HostNetwork", rail("r0", "rdma/host")))
            await eventually(lambda: not untrue(room))
        said = room.api.objects[path_of(policy())]["status"]["conditions"]
        assert said[0]["reason"] == "HostNetworkNotAllowed"


async def test_nothing_is_written_before_all_is_known() -> None:
    """A half-read cluster would say that networks are missing."""
    async with joined() as room:
        room.is_synced = False
        room.put(policy("tokens"))
        async with led(room):
            await asyncio.sleep(0.05)
            assert room.api.deeds == []
            room.put(TOKENS)
            room.is_synced = True
            await eventually(lambda: not untrue(room))
        assert len(room.api.done("PATCH")) == 2


async def test_who_does_not_lead_writes_nothing_and_keeps_nothing() -> None:
    """Before its term and after it; what it was told of meanwhile it knows."""
    async with joined() as room:
        room.put(TOKENS, policy("tokens"))
        assert room.controller.waiting() == 0
        room.api.lists[PODS] = [running("p", "elsewhere")]
        async with led(room):
            await eventually(lambda: not untrue(room))
        written = len(room.api.done("PATCH"))
        room.put(policy("tokens", "nowhere"))
        await asyncio.sleep(0.05)
        assert len(room.api.done("PATCH")) == written
        assert (room.nodes.advertised, room.pods.is_listed) == (None, False)
        assert room.controller.waiting() == 0
        async with led(room):
            await eventually(lambda: not untrue(room))


async def test_networks_are_looked_at_again_when_nodes_change() -> None:
    """Nobody else tells of nodes."""
    async with joined() as room:
        room.put(TOKENS)
        path = path_of(TOKENS)

        def reason() -> str:
            return str(room.api.objects[path]["status"]["conditions"][1]["reason"])

        async with led(room):
            await eventually(lambda: not untrue(room))
            assert reason() == "NotAdvertised"
            room.api.lists[NODES] = [{"status": {"allocatable": {"rdma/ib": "4"}}}]
            await eventually(lambda: reason() == "Advertised")


async def test_pods_are_looked_at_now_and_then() -> None:
    """Also those that an earlier version of the policy left behind unseen."""
    async with joined() as room:
        room.put(TOKENS, policy())
        async with led(room):
            await eventually(lambda: not untrue(room))
            room.api.lists[PODS] = [running("p")]
            room.api.lists["/api/v1/namespaces/team-a/pods"] = [running("p")]
            path = path_of(policy())
            await eventually(
                lambda: room.api.objects[path]["status"]["counts"].get("outdatedPods") == 1
            )


async def test_a_mistake_of_ours_ends_the_term(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the work does not go on without the other; the election begins anew."""

    def broken(_: object) -> None:
        raise ValueError("a mistake")

    async with joined() as room:
        room.put(TOKENS)
        monkeypatch.setattr(room.nodes, "run", broken)
        with pytest.raises(ExceptionGroup):
            await room.controller.lead()
        assert room.controller.waiting() == 0


async def test_a_burst_is_not_worked_out_within_the_swap() -> None:
    """Requests wait for that turn: it takes note of changes, and walks no policies."""
    async with joined() as room:
        room.put(*(policy("tokens", namespace=f"n{number}") for number in range(50)))
        async with led(room):
            await eventually(lambda: not untrue(room))
            before = room.controller.waiting()
            change = Put("RDMANetwork", room.api.put(TOKENS))
            room.hear(change)
            assert room.controller.waiting() == before
            await eventually(lambda: not untrue(room))


# --------------------------------------------------------------------- whatever

NAMES = ("a", "b", "c")
NUMBERS = (None, 210, 211)
SPACES = ("one", "two", "three")
Step = Callable[[Room], None]


def _drop(kind: str, namespace: str, name: str) -> Step:
    def step(room: Room) -> None:
        found = {"kind": kind, "metadata": {"namespace": namespace, "name": name}}
        if room.api.objects.pop(path_of(found), None) or kind == "NetworkAttachmentDefinition":
            room.hear(Gone(kind, namespace, name))

    return step


def _put(found: dict[str, Any]) -> Step:
    def step(room: Room) -> None:
        if found["kind"] == "NetworkAttachmentDefinition":
            room.hear(Put(found["kind"], found))
        else:
            room.put(found)

    return step


def _trouble(found: dict[str, Any], status: int) -> Step:
    path = path_of(found)
    return lambda room: room.api.refuse("PATCH", f"{path}/status", Answer(status))


RAILS = st.sampled_from(
    [
        rail("r0", "nvidia.com/vf"),
        rail("r0", "nvidia.com/other"),
        {"name": "r0"},
        {"name": "r0", "networkAttachment": {"namespace": "fabric", "name": "theirs"}},
        {"name": "r0", "networkAttachment": {"name": "own"}},
    ]
)
A_NETWORK = st.builds(
    lambda name, fabric, found: network(
        name, "SRIOVEthernet", found, partition={"type": "VLAN"}, fabric=fabric
    ),
    st.sampled_from(NAMES),
    st.sampled_from(("leaf", "spine")),
    RAILS,
)
A_POLICY = st.builds(
    lambda space, tenant, grants: policy(
        *(granted(name, number) for name, number in sorted(grants.items())),
        namespace=space,
        **({"tenant": tenant} if tenant else {}),
    ),
    st.sampled_from(SPACES),
    st.sampled_from((None, "acme")),
    st.dictionaries(st.sampled_from((*NAMES, "nowhere")), st.sampled_from(NUMBERS), max_size=3),
)
BROKEN = st.sampled_from(
    [{**policy(namespace=space), "spec": {"networks": 7}} for space in SPACES]
    + [{**network(name, "DeviceOnly"), "spec": {"mode": "Carrier"}} for name in NAMES]
)
A_CLAIM = st.builds(claim, st.sampled_from(("p", "q")), st.sampled_from(("acme", "other")))
A_NAD = st.builds(
    lambda place, resource, vlan: nad(
        place[1], resource, namespace=place[0], type="sriov", vlan=vlan, spoofchk="on"
    ),
    st.sampled_from(
        [("fabric", "theirs"), ("one", "own")]
        + [(space, f"rdma-{name}-r0-v0210") for space in SPACES[:2] for name in NAMES[:2]]
    ),
    st.sampled_from(("nvidia.com/vf", "nvidia.com/other")),
    st.sampled_from((210, 211)),
)
OBJECTS = st.one_of(A_NETWORK, A_POLICY, A_CLAIM, BROKEN)
DROPS = st.one_of(
    st.builds(_drop, st.just("RDMANetwork"), st.just(""), st.sampled_from(NAMES)),
    st.builds(_drop, st.just("RDMAPolicy"), st.sampled_from(SPACES), st.just("default")),
    st.builds(_drop, st.just("RDMAPartition"), st.just(""), st.sampled_from(("p", "q"))),
    st.builds(_drop, st.just("NetworkAttachmentDefinition"), st.just("fabric"), st.just("theirs")),
)
TROUBLES = st.builds(_trouble, OBJECTS, st.sampled_from((403, 409, 422, 429, 500, CUT)))
STEPS = st.lists(
    st.tuples(
        st.one_of(st.builds(_put, OBJECTS), st.builds(_put, A_NAD), DROPS, TROUBLES), st.booleans()
    ),
    max_size=8,
)
FIRST = (
    network("a", "SRIOVEthernet", {"name": "r0"}, partition={"type": "VLAN"}, fabric="leaf"),
    network(
        "b", "SRIOVEthernet", rail("r0", "nvidia.com/vf"), partition={"type": "VLAN"}, fabric="leaf"
    ),
    network(
        "c",
        "SRIOVEthernet",
        {"name": "r0", "networkAttachment": {"namespace": "fabric", "name": "theirs"}},
        partition={"type": "VLAN"},
    ),
    policy(granted("a", 210), namespace="one", tenant="acme"),
    policy(granted("b", 211), namespace="two"),
    policy(granted("b", 213), namespace="three"),
    policy(granted("a", 213), namespace="rival"),
    policy(granted("c", 211), namespace="guest"),
    claim("p", "acme"),
)
FIRST_NADS = (
    nad("rdma-a-r0-v0210", "nvidia.com/other", "one", type="sriov", vlan=210, spoofchk="on"),
    nad("theirs", "nvidia.com/vf", "fabric", type="sriov", vlan=211, spoofchk="on"),
    nad("rdma-b-r0-v0211", "nvidia.com/vf", "two", type="sriov", vlan=211, spoofchk="on"),
)
"""What is there before anything happens, so that what happens concerns something."""


class Expected:
    """What should be said of each object, whenever that changes."""

    def __init__(self, room: Room) -> None:
        """Begin with nothing."""
        self._room = room
        self._last: dict[tuple[str, str], int] = {}
        self.changes: Counter[str] = Counter()

    def look(self) -> None:
        """Count what should be said otherwise than at the last look."""
        for path, found in self._room.api.objects.items():
            if path.startswith("/apis/rdma.io/"):
                key, said = (path, found["metadata"]["uid"]), wanted(self._room, found)
                self.changes[path] += self._last.get(key) != said
                self._last[key] = said


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_in_the_end_every_object_says_how_it_stands(steps: list[tuple[Step, bool]]) -> None:
    """After any events and troubles; and no status is written without anything new to say."""

    async def all_of_it() -> None:
        async with joined() as room, led(room):
            expected = Expected(room)
            room.put(*FIRST)
            room.hear(*(Put(one["kind"], one) for one in FIRST_NADS))
            expected.look()
            await eventually(lambda: not untrue(room))
            for step, pauses in steps:
                step(room)
                expected.look()
                if pauses:
                    await asyncio.sleep(0.01)
            await eventually(lambda: not untrue(room), f"the truth of {untrue(room)}")
            await eventually(lambda: not room.controller.waiting())
            assert room.statuses.writes == room.api.written.total()
            for path, number in room.api.written.items():
                assert number <= expected.changes[path], path

    with patch.object(controller, "EVERYTHING_SECONDS", 1e6):
        asyncio.run(all_of_it())


def test_keys_of_gone_objects_leave_nothing_behind() -> None:
    """Objects come and go for years."""

    async def all_of_it() -> None:
        async with joined() as room, led(room):
            for number in range(20):
                found = policy("tokens", namespace=f"n{number}")
                room.put(found)
                await eventually(lambda: not untrue(room))
                _drop("RDMAPolicy", f"n{number}", "default")(room)
            await eventually(lambda: not room.leftovers._looked)  # noqa: SLF001 - it shall not grow
            assert room.observed.sight(Key("RDMAPolicy", "n1", "default")) is None
            assert list(room.observed.generations()) == []

    asyncio.run(all_of_it())
