"""Devices of a fabric by resource name."""

import pytest

from policies.refusal import Notice, Reason, Refusal
from tests.harness.cluster import GRANTS, cluster, granted
from tests.harness.pods import Object, asking, case, pod
from webhook.isolation import devices

TOKENS = (granted("tokens"),)


def check(*containers: Object, enforcement: str = "Enforce", **spec: object) -> list[object]:
    """Return what is found in a pod that asks for network ``tokens``."""
    snapshot = cluster(enforcement=enforcement, grants=spec.pop("grants", TOKENS))
    return list(devices.check(case(pod("tokens", *containers, **spec), snapshot)))  # type: ignore[arg-type]


def test_a_network_that_is_not_granted_is_refused() -> None:
    """Its device would be a way onto its fabric."""
    (found,) = check(asking(nvidia__x="1", rdma__hca="1"))
    assert isinstance(found, Refusal)
    assert found.reason is Reason.RESOURCE_DENIED
    assert found.message.startswith("spec.containers[main].resources: rdma/hca is a device of")


def test_the_path_is_that_of_the_container() -> None:
    """An init container is named as one."""
    (found,) = check(initContainers=[asking("setup", rdma__hca="1")])
    assert isinstance(found, Refusal)
    assert found.message.startswith("spec.initContainers[setup].resources: ")


@pytest.mark.parametrize("enforcement", ["Warn", "Audit"])
def test_it_is_the_pods_own_right(enforcement: str) -> None:
    """Below Enforce the author is warned and the pod admitted."""
    (found,) = check(asking(rdma__hca="1"), enforcement=enforcement)
    assert isinstance(found, Notice)
    assert found.text.startswith("GovernedResourceDenied (not enforced): ")


def test_a_granted_network_by_hand_is_told() -> None:
    """The author learns that the annotation can do it."""
    (found,) = check(asking(rdma__hca="1"), grants=GRANTS)
    assert found == Notice(
        "container main asks for rdma/hca by hand; rdma.io/network can name shared", 4
    )


@pytest.mark.parametrize(
    "resources",
    [
        pytest.param({"rdma__ib": "1"}, id="of the network that the annotation names"),
        pytest.param({"rdma__hca": "0"}, id="an explicit nothing"),
        pytest.param({"rdma__other": "1"}, id="of no network of the cluster"),
        pytest.param({"nvidia.com__gpu": "8", "cpu": "1"}, id="of no fabric"),
    ],
)
def test_what_is_none_of_our_business(resources: dict[str, str]) -> None:
    """Only devices of networks that were not asked for are looked at."""
    assert check(asking(**resources)) == []
