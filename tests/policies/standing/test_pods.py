"""Which running pods would be treated in another way now."""

from collections.abc import Iterable

import pytest

from policies.snapshot import Snapshot
from policies.standing.pods import RunningPod, is_outdated, ours
from tests.harness.cluster import GRANTS, cluster, granted, network, rail

ROCE = ("rdma-roce-r0-v0210", "rdma-roce-r1-v0210")
NUMBERS = {"roce": 210}


def running(wish: str, selected: Iterable[str] = (), **more: str) -> RunningPod:
    """Return an equipped pod of team-a."""
    annotations = {"rdma.io/network": wish, **{f"rdma.io/{key}": more[key] for key in more}}
    places = frozenset(("team-a", name) for name in selected)
    return RunningPod("team-a", "worker-0", ours({"other": "x", **annotations}), places)


@pytest.mark.parametrize(
    ("pod", "known", "is_old"),
    [
        pytest.param(running("roce", ROCE), cluster(), False, id="as it was"),
        pytest.param(running("roce:1", ROCE[:1]), cluster(), False, id="one of two, by its count"),
        pytest.param(running("roce", ROCE[:1]), cluster(), True, id="one of two: a rail was added"),
        pytest.param(running("tokens"), cluster(), False, id="no attachments"),
        pytest.param(
            running("roce", ROCE), cluster(grants=["tokens"]), True, id="not granted any more"
        ),
        pytest.param(
            running("roce", ["rdma-roce-r0-v0209", "rdma-roce-r1-v0209"]),
            cluster(),
            True,
            id="another number now",
        ),
        pytest.param(
            running("roce:1", ["rdma-roce-r0-v0209"]), cluster(), True, id="another number, counted"
        ),
        pytest.param(
            running("roce:2", ROCE),
            cluster(grants=[granted("roce", 210, maxPerPod=1)]),
            True,
            id="more than it may have now",
        ),
        pytest.param(
            running("roce", ROCE),
            cluster(grants=[granted("roce", 211)]),
            False,
            id="its next attachments are not there yet",
        ),
        pytest.param(running("roce,,", ROCE), cluster(), True, id="a wish that nobody reads now"),
        pytest.param(
            running("roce", ROCE[:1]),
            cluster(
                network(
                    "roce",
                    "SRIOVEthernet",
                    rail("r0", "nvidia.com/roce_r0"),
                    rail("r1", "nvidia.com/roce_r1"),
                    partition={"type": "VLAN"},
                    perAccelerator=1,
                )
            ),
            False,
            id="as many as its accelerators",
        ),
        pytest.param(
            RunningPod("team-a", "x", (("rdma.io/status", "{}"),), frozenset()),
            cluster(),
            False,
            id="no wish",
        ),
    ],
)
def test_a_pod_is_outdated_where_its_wish_leads_elsewhere(
    pod: RunningPod, known: Snapshot, *, is_old: bool
) -> None:
    """Refused now, or attached in another way; what is merely on its way changes nothing."""
    assert is_outdated(known, pod) is is_old


def test_an_equipped_pod_of_every_mode_is_up_to_date() -> None:
    """The small cluster's grants, each with the attachments that they lead to."""
    known = cluster()
    selected = [name for name in known.shard("team-a").nads if name.startswith("rdma-")]
    names = [one if isinstance(one, str) else one["name"] for one in GRANTS]
    assert not [name for name in names if is_outdated(known, running(name, selected))]
