"""Capabilities that a pod's author adds."""

from typing import Any

import pytest

from policies.refusal import Notice, Reason, Refusal
from tests.harness.cluster import cluster
from tests.harness.pods import case, container, pod
from webhook.isolation import capabilities

LIMITS = {"capabilities": ["IPC_LOCK", "NET_RAW"], "requiredDrop": ["NET_RAW"]}


def adding(*names: str, **context: Any) -> dict[str, Any]:  # noqa: ANN401 JSON is anything
    """Return a container that adds capabilities."""
    return container(securityContext={"capabilities": {"add": list(names)}, **context})


def check(given: dict[str, Any], enforcement: str = "Enforce") -> list[Any]:
    """Return what is found in a pod of a container that may be anything."""
    snapshot = cluster(enforcement=enforcement, podLimits={"privileged": True, **LIMITS})
    return list(capabilities.check(case(pod("tokens", given), snapshot)))


@pytest.mark.parametrize(
    ("given", "beyond"),
    [
        pytest.param(container(), "", id="nothing is added"),
        pytest.param(adding("IPC_LOCK"), "", id="what the policy allows"),
        pytest.param(adding("SYS_ADMIN"), "SYS_ADMIN", id="what it does not allow"),
        pytest.param(adding("IPC_LOCK", "ALL"), "ALL", id="all of them"),
        pytest.param(adding("NET_RAW"), "NET_RAW", id="allowed, yet to be dropped"),
        pytest.param(adding("KILL", "NET_RAW", "KILL"), "KILL, NET_RAW", id="each is named once"),
        pytest.param(adding("SYS_ADMIN", privileged=True), "", id="a privileged container has all"),
    ],
)
def test_what_is_beyond_the_limits(given: dict[str, Any], beyond: str) -> None:
    """A capability needs the policy's word, and none that must be dropped may be added."""
    found = check(given)
    assert [one.reason for one in found] == [Reason.CAPABILITY_DENIED] * bool(beyond)
    where = "spec.containers[main].securityContext.capabilities.add"
    assert all(one.message.startswith(f"{where}: {beyond} is beyond") for one in found)


@pytest.mark.parametrize(
    ("enforcement", "kind"), [("Enforce", Refusal), ("Warn", Notice), ("Audit", Notice)]
)
def test_it_is_the_pods_own_right(enforcement: str, kind: type) -> None:
    """Below Enforce the author is warned and the pod admitted."""
    (found,) = check(adding("SYS_ADMIN"), enforcement)
    assert isinstance(found, kind)


def test_init_containers_are_judged_too() -> None:
    """They share the pod's network."""
    given = pod("tokens", initContainers=[{**adding("SYS_ADMIN"), "name": "setup"}])
    (found,) = capabilities.check(case(given, cluster()))
    assert isinstance(found, Refusal)
    assert found.message.startswith("spec.initContainers[setup].")
