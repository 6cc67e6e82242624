"""What stands in the way of NUMA alignment."""

import pytest

from tests.harness.intents import MAIN, equipped, injected, intent
from tests.harness.pods import container, pod
from webhook.injectors import numa

GPU = {"nvidia.com/gpu": "8"}
FIXED = {"cpu": "8", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("limits", "requests", "why"),
    [
        pytest.param(GPU | FIXED, GPU | FIXED, None, id="a Guaranteed pod of whole CPUs"),
        pytest.param(GPU | FIXED, None, None, id="requests come from limits"),
        pytest.param(
            GPU | FIXED, {"cpu": "4"}, "is not Guaranteed (limits", id="requests below limits"
        ),
        pytest.param(GPU | {"cpu": "8"}, None, "is not Guaranteed (limits", id="no memory limit"),
        pytest.param(GPU, {"cpu": "8"}, "is not Guaranteed (limits", id="no CPU limit"),
        pytest.param(
            GPU | FIXED | {"cpu": "7500m"},
            None,
            "asks for 7500m CPUs, no whole number",
            id="a fraction",
        ),
        pytest.param(GPU, GPU, None, id="no CPU is asked for"),
        pytest.param({"cpu": "7500m", "rdma/hca": "1"}, None, None, id="no accelerator but ours"),
        pytest.param(None, None, None, id="nothing is asked for"),
    ],
)
def test_a_container_that_cannot_be_aligned(
    limits: dict[str, str] | None, requests: dict[str, str] | None, why: str | None
) -> None:
    """Who asks for accelerators learns why the kubelet will not align them with the NIC."""
    given = pod(None, container(resources={"limits": limits, "requests": requests}))
    edits, notices = injected(numa.inject, given, intent(equipped(MAIN, ("rdma/hca", 1))))
    assert edits == []
    assert [why in text for text in notices if why] == ([True] if why else [])
    assert len(notices) == bool(why)


def test_a_shared_device_gives_no_hint() -> None:
    """Even the best pod is not aligned with a token of a shared device."""
    given = pod(None, container(resources={"limits": GPU | FIXED}))
    _, notices = injected(numa.inject, given, intent(shares_hca=True))
    assert notices == ["no NUMA alignment: container main gets a token without a topology hint"]


def test_only_containers_with_devices_are_told() -> None:
    """Where no device is handed out there is nothing to align."""
    given = pod(None, container(resources={"limits": GPU | {"cpu": "7500m"}}))
    assert injected(numa.inject, given, intent(equipped(has_devices=False))) == ([], [])
