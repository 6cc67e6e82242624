"""The fixed settings that the core needs."""

import pytest

from policies.rules import Rules


@pytest.mark.parametrize(
    ("resource", "accelerator", "governed"),
    [
        ("nvidia.com/gpu", True, False),
        ("nvidia.com/mig-1g.5gb", True, False),
        ("gpu.intel.com/i915", True, False),
        ("huawei.com/Ascend910", True, False),
        ("nvidia.com/gpu.shared", False, True),
        ("nvidia.com/mlnxnics", False, True),
        ("rdma/hca", False, True),
        ("rdmax/hca", False, False),
        ("vpc.amazonaws.com/efa", False, True),
        ("vpc.amazonaws.com/efa2", False, False),
        ("example.com/x", False, False),
        ("cpu", False, False),
    ],
)
def test_a_resource_is_a_nic_an_accelerator_or_neither(
    resource: str, *, accelerator: bool, governed: bool
) -> None:
    """Prefixes end in a slash, patterns in a star, and everything else is an exact name."""
    rules = Rules()
    assert rules.is_accelerator(resource) is accelerator
    assert rules.is_governed(resource) is governed


def test_the_lists_are_settings() -> None:
    """What is governed and what is an accelerator is fixed at install."""
    rules = Rules(governed_resources=("example.com/",), accelerators=("example.com/gpu",))
    assert rules.is_governed("example.com/nic")
    assert not rules.is_governed("example.com/gpu")
    assert not rules.is_governed("rdma/hca")
