"""Which governed resources a node advertises."""

from typing import Any

import pytest

from policies import node
from policies.rules import Rules


@pytest.mark.parametrize(
    ("status", "advertised"),
    [
        pytest.param({"allocatable": {"rdma/hca": "8"}}, {"rdma/hca"}, id="a text"),
        pytest.param({"allocatable": {"rdma/hca": 8}}, {"rdma/hca"}, id="a number"),
        pytest.param({"allocatable": {"rdma/hca": "1k"}}, {"rdma/hca"}, id="a suffix"),
        pytest.param({"capacity": {"rdma/hca": "8"}}, {"rdma/hca"}, id="capacity alone"),
        pytest.param(
            {"allocatable": {"rdma/hca": "0"}, "capacity": {"rdma/hca": "8"}},
            set(),
            id="none allocatable",
        ),
        pytest.param({"allocatable": {}, "capacity": {"rdma/hca": "8"}}, set(), id="nothing left"),
        pytest.param({"allocatable": {"cpu": "8", "nvidia.com/gpu": "8"}}, set(), id="not ours"),
        pytest.param({"allocatable": {"rdma/hca": "many"}}, set(), id="no quantity"),
        pytest.param({"allocatable": {"rdma/hca": True}}, set(), id="a truth"),
        pytest.param({"allocatable": {"rdma/hca": [8]}}, set(), id="a list"),
        pytest.param({"allocatable": {7: "8"}}, set(), id="a key that is no text"),
        pytest.param({"allocatable": ["rdma/hca"]}, set(), id="no map"),
        pytest.param({}, set(), id="nothing"),
        pytest.param(None, set(), id="no status"),
    ],
)
def test_what_is_allocatable_is_advertised(status: Any, advertised: set[str]) -> None:  # noqa: ANN401
    """Governed resources of which there is some; an odd node has none."""
    assert node.read({"metadata": {"name": "n"}, "status": status}, Rules()) == advertised
