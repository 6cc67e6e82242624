"""Waiting until the cluster has done its part, with messages that say what it did not do."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from tests.harness.clients import Clients
from tests.harness.waiting import Result, wait_for


class Waits(Clients):
    """What can be waited for in one cluster."""

    def wait_for(
        self, what: str, check: Callable[[], Result | None], timeout: float = 30.0
    ) -> Result:
        """Return the first truthy result of ``check``, as :func:`.waiting.wait_for`."""
        return wait_for(what, check, timeout)

    def wait_for_pod(
        self,
        namespace: str,
        name: str,
        what: str,
        check: Callable[[dict[str, Any]], Result | None],
        timeout: float = 30.0,
    ) -> Result:
        """Return the first truthy result of ``check`` on the pod, named ``what`` in errors."""
        return wait_for(
            f"pod {namespace}/{name}: {what}", lambda: check(self.pod(namespace, name)), timeout
        )

    def wait_until_bound(self, namespace: str, name: str, timeout: float = 30.0) -> str:
        """Return the name of the node that the scheduler chose."""
        return self.wait_for_pod(namespace, name, "bound to a node", _node_name, timeout)

    def wait_until_unschedulable(self, namespace: str, name: str, timeout: float = 30.0) -> str:
        """Return the scheduler's reason for leaving the pod Pending."""
        return self.wait_for_pod(
            namespace, name, "found unschedulable", _unschedulable_reason, timeout
        )

    def wait_for_phase(
        self, namespace: str, name: str, phase: str, timeout: float = 30.0
    ) -> dict[str, Any]:
        """Return the pod once it is in the phase."""
        return self.wait_for_pod(
            namespace,
            name,
            f"phase {phase}",
            lambda pod: pod if pod["status"].get("phase") == phase else None,
            timeout,
        )

    def wait_for_crd(self, name: str, timeout: float = 30.0) -> None:
        """Return when objects of the CustomResourceDefinition can be created."""
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        crd = wait_for(
            f"CustomResourceDefinition {name}: Established",
            lambda: _if_established(self.find(path)),
            timeout,
        )
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        for version in crd["spec"]["versions"]:
            served = f"/apis/{group}/{version['name']}/{plural}?limit=1"
            if version["served"]:
                wait_for(f"{served}: served", functools.partial(self.find, served), timeout)

    def wait_until_gone(self, path: str, timeout: float = 30.0) -> None:
        """Return when there is no object at the API path."""
        wait_for(f"{path}: gone", lambda: self.find(path) is None, timeout)


def _node_name(pod: Mapping[str, Any]) -> str | None:
    name: str | None = pod["spec"].get("nodeName")
    return name


def _unschedulable_reason(pod: Mapping[str, Any]) -> str | None:
    for condition in pod["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            return str(condition["message"])
    return None


def _if_established(crd: dict[str, Any] | None) -> dict[str, Any] | None:
    conditions = (crd or {}).get("status", {}).get("conditions", [])
    is_established = any(c["type"] == "Established" and c["status"] == "True" for c in conditions)
    return crd if is_established else None
