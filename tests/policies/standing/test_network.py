"""How a network stands: each reason once, in the words that its status shows."""

from typing import Any

import pytest

from policies.changes import Put
from policies.standing import network as standing
from policies.standing.finding import Finding
from tests.harness.cluster import network, rail, snapshot

VF = rail("r0", "nvidia.com/vf")
GOOD = network("a", "SRIOVEthernet", VF, partition={"type": "VLAN"})
BAD = network("a", "SRIOVEthernet", rail("r0", "acme.io/x"), partition={"type": "VLAN"})
BROKEN = {**GOOD, "spec": 7}


def stood(*objects: dict[str, Any], missing: tuple[str, ...] | None = ()) -> dict[str, Finding]:
    """Return the conditions of network ``a``."""
    known = snapshot()
    for one in objects:
        known = known.apply([Put("RDMANetwork", one)])
    found = standing.stand(known, known.networks["a"], missing)
    return {one.type: one for one in found.findings}


@pytest.mark.parametrize(
    ("objects", "status", "reason", "words"),
    [
        pytest.param([GOOD], "True", "Accepted", "can grant", id="right"),
        pytest.param([BAD], "False", "Invalid", "acme.io/x is outside", id="contradicts itself"),
        pytest.param([BROKEN], "False", "Unreadable", "spec: ", id="never parsed"),
        pytest.param(
            [GOOD, BROKEN], "False", "Unreadable", "the version before still counts", id="was right"
        ),
        pytest.param([BROKEN, GOOD], "True", "Accepted", "can grant", id="mended"),
        pytest.param([BAD, BROKEN], "False", "Unreadable", "spec: ", id="was wrong"),
        pytest.param(
            [network("a", "HostDevice", VF)],
            "False",
            "ModeNotSupported",
            "mode HostDevice is not supported by this version of the webhook (supported: Macvlan,",
            id="a mode of later",
        ),
    ],
)
def test_a_network_is_accepted_or_says_why_not(
    objects: list[dict[str, Any]], status: str, reason: str, words: str
) -> None:
    """The reason is one word, and the message names path and problem."""
    found = stood(*objects)["Accepted"]
    assert (found.status, found.reason) == (status, reason)
    assert words in found.message


@pytest.mark.parametrize(
    ("one", "missing", "status", "reason"),
    [
        pytest.param(GOOD, (), "True", "Advertised", id="by some node"),
        pytest.param(GOOD, ("nvidia.com/vf",), "False", "NotAdvertised", id="by no node"),
        pytest.param(GOOD, None, "Unknown", "NotCounted", id="not counted yet"),
        pytest.param(BROKEN, (), "Unknown", "NotCounted", id="unreadable"),
        pytest.param(
            network("a", "DRA", {"name": "r0", "deviceClassName": "x"}),
            (),
            "Unknown",
            "NotCounted",
            id="claims",
        ),
    ],
)
def test_a_network_says_whether_nodes_advertise_it(
    one: dict[str, Any], missing: tuple[str, ...] | None, status: str, reason: str
) -> None:
    """Unknown is no verdict: nobody counted."""
    found = stood(one, missing=missing)["ResourcesAdvertised"]
    assert (found.status, found.reason) == (status, reason)
    assert all(name in found.message for name in missing or ())


@pytest.mark.parametrize(
    ("one", "fields"),
    [
        (GOOD, {"isolation": "Hard"}),
        (network("a", "DeviceOnly", VF), {"isolation": "None"}),
        (BROKEN, {}),
    ],
)
def test_a_network_says_how_far_it_isolates(one: dict[str, Any], fields: dict[str, str]) -> None:
    """What its mode can give where every attachment is as it should be."""
    known = snapshot(one)
    assert standing.stand(known, known.networks["a"], ()).fields == fields
