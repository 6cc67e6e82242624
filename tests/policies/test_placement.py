"""Node selectors that cannot hold together."""

from typing import Any

import pytest

from policies.placement import contradiction
from policies.refusal import Reason
from policies.select import Applicable, select
from tests.harness.cluster import network, policy, rail, snapshot
from tests.harness.subjects import subject

Pairs = tuple[tuple[str, str], ...]


def applicable(own: Pairs) -> Applicable:
    """A pod with labels of its own, on networks a and b."""
    names: Any = ("a", "b")
    networks = [network(name, "DeviceOnly", rail("r0", "rdma/ib")) for name in names]
    found = select(subject("a,b", node_selector=own), snapshot(*networks, policy(*names)))
    assert isinstance(found, Applicable)
    return found


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        pytest.param((), (), id="nothing said"),
        pytest.param((("zone", "x"),), (("rdma", "yes"),), id="different labels"),
        pytest.param((("rdma", "yes"),), (("rdma", "yes"),), id="the same value"),
        pytest.param((), (("rdma", "yes"), ("rdma", "yes")), id="two networks that agree"),
    ],
)
def test_labels_that_hold_together_are_fine(own: Pairs, wanted: Pairs) -> None:
    """The pod's own and those of its networks."""
    assert contradiction(applicable(own), wanted) is None


@pytest.mark.parametrize(
    ("own", "wanted", "problem"),
    [
        pytest.param(
            (),
            (("pool", "x"), ("pool", "y")),
            'networks a and b need node label pool to be both "x" and "y"',
            id="two networks that disagree",
        ),
        pytest.param(
            (("pool", "z"),),
            (("pool", "x"),),
            'spec.nodeSelector[pool]: is "z", but the pod\'s networks need "x"',
            id="a pod that disagrees with its network",
        ),
    ],
)
def test_labels_that_no_node_has_are_refused(own: Pairs, wanted: Pairs, problem: str) -> None:
    """The pod would wait for ever; both values are named."""
    found = contradiction(applicable(own), wanted)
    assert found is not None
    assert found.reason is Reason.PLACEMENT_CONFLICT
    assert problem in found.message
