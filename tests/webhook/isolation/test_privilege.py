"""Privileged containers and the host's own namespaces."""

from typing import Any

import pytest

from policies.refusal import Notice, Reason, Refusal
from tests.harness.cluster import cluster
from tests.harness.pods import Object, case, container, pod
from webhook.isolation import privilege

ALLOWS: dict[str, Any] = {"hostNetwork": True, "privileged": True}
NOTHING = {"hostNetwork": False, "privileged": False}


def check(given: Object, enforcement: str = "Enforce", **limits: Any) -> list[Refusal | Notice]:  # noqa: ANN401
    """Return what is found in a pod under some limits."""
    snapshot = cluster(enforcement=enforcement, podLimits={**NOTHING, **limits})
    return list(privilege.check(case(given, snapshot)))


def running(**context: Any) -> Object:  # noqa: ANN401 JSON is anything
    """Return a pod whose container has a security context."""
    return pod("tokens", container(securityContext=context))


@pytest.mark.parametrize(
    ("given", "path"),
    [
        pytest.param(pod("tokens", hostNetwork=True), "spec.hostNetwork", id="the host's network"),
        pytest.param(pod("tokens", hostPID=True), "spec.hostPID", id="the host's processes"),
        pytest.param(pod("tokens", hostIPC=True), "spec.hostIPC", id="the host's memory"),
        pytest.param(
            running(privileged=True),
            "spec.containers[main].securityContext.privileged",
            id="a privileged container",
        ),
        pytest.param(
            running(procMount="Unmasked"),
            "spec.containers[main].securityContext.procMount",
            id="an unmasked /proc",
        ),
        pytest.param(
            pod("tokens", initContainers=[container("x", securityContext={"privileged": True})]),
            "spec.initContainers[x].securityContext.privileged",
            id="a privileged init container",
        ),
    ],
)
def test_a_door_around_every_network(given: Object, path: str) -> None:
    """Each is refused with its path where the policy enforces, and told of where it warns."""
    (refused,) = check(given)
    (warned,) = check(given, "Warn")
    assert isinstance(refused, Refusal)
    assert refused.reason is Reason.PRIVILEGE_DENIED
    assert refused.message.startswith(f"{path}: is ")
    assert isinstance(warned, Notice)
    assert warned.text.startswith("PrivilegeDenied (not enforced): ")
    assert warned.not_enforced == "PrivilegeDenied"
    assert len(warned.text) <= 120


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(pod("tokens"), id="a plain pod"),
        pytest.param(
            pod("tokens", hostNetwork=None, hostPID=False, hostIPC=None), id="null and false"
        ),
        pytest.param(running(privileged=False, procMount="Default"), id="false and the default"),
        pytest.param(running(privileged=None, procMount=None), id="nulls in a container"),
    ],
)
def test_what_opens_no_door(given: Object) -> None:
    """What is off, absent or null is no privilege."""
    assert check(given) == []


@pytest.mark.parametrize("given", [pod("tokens", hostNetwork=True), running(privileged=True)])
def test_what_the_policy_allows(given: Object) -> None:
    """The policy may let a tenant use the host's network and privileged containers."""
    assert check(given, **ALLOWS) == []


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        (pod("tokens", hostNetwork=True), "podLimits.hostNetwork: true"),
        (running(privileged=True), "podLimits.privileged: true"),
        (pod("tokens", hostPID=True), ""),
        (pod("tokens", hostIPC=True), ""),
        (running(procMount="Unmasked"), ""),
    ],
)
def test_who_can_change_it(given: Object, limit: str) -> None:
    """A limit is named where one allows it, and none where nothing does."""
    (found,) = check(given)
    assert isinstance(found, Refusal)
    assert "author can remove it" in found.message
    assert found.message.endswith(limit or "remove it")


def test_nothing_allows_the_other_namespaces() -> None:
    """No limit of a policy opens the host's processes or memory."""
    assert len(check(pod("tokens", hostPID=True, hostIPC=True), **ALLOWS)) == 2
