"""A policy that changes, or goes, under real workloads: who runs runs on, who is new is new."""

import secrets
from collections.abc import Callable, Iterator

import pytest

from tests.harness import sets, tenants
from tests.harness.api import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.sets import TenantSet
from tests.harness.tenants import NETWORK
from tests.harness.webhook import Webhook

OLD, NEW = 100, 200
"""Numbers: each set has a fabric of its own, so nobody else has them there."""
TRACKED = "batch.kubernetes.io/job-tracking"
SETTLE_SECONDS = 60.0


@pytest.fixture
def tenant(controlplane: ControlPlane, webhook: Webhook) -> Iterator[TenantSet]:
    """Give a tenant with policy and attachments, and no workload yet; it goes afterwards."""
    assert webhook.is_running
    one = TenantSet(f"change-{secrets.token_hex(3)}", OLD, replicas=2)
    controlplane.add_namespace(one.name)
    for document in [one.network, *one.attachments, *one.attachments_of(NEW), one.policy]:
        _create(controlplane, document)
    yield one
    controlplane.api("DELETE", tenants.policy_path(one.name))
    controlplane.api("DELETE", f"/api/v1/namespaces/{one.name}")
    network = f"{sets.collection(one.network)}/{one.name}"
    controlplane.wait_for(
        "the network can go", lambda: controlplane.api("DELETE", network)[0] == 200
    )


@pytest.fixture
def pods(controlplane: ControlPlane, tenant: TenantSet) -> Callable[..., dict[str, Document]]:
    """Give a reader of the tenant's pods that waits until so many are alive."""
    path = f"/api/v1/namespaces/{tenant.name}/pods"

    def alive() -> dict[str, Document]:
        return {
            pod["metadata"]["name"]: pod
            for pod in controlplane.request("GET", path)["items"]
            if pod["status"]["phase"] != "Succeeded" and "deletionTimestamp" not in pod["metadata"]
        }

    def read(count: int) -> dict[str, Document]:
        return controlplane.wait_for(
            f"{count} pods alive",
            lambda: found if len(found := alive()) == count else None,
            SETTLE_SECONDS,
        )

    return read


Pods = Callable[..., dict[str, Document]]


def _create(cluster: ControlPlane, document: Document) -> None:
    cluster.request("POST", sets.collection(document), document)


def _renumber(cluster: ControlPlane, tenant: TenantSet) -> None:
    changed = {"spec": tenant.policy_of(NEW)["spec"]}
    cluster.request("PATCH", tenants.policy_path(tenant.name), changed, content_type=MERGE_PATCH)


def _finish(cluster: ControlPlane, pods: dict[str, Document]) -> None:
    """Let pods end well, as their kubelet would say."""
    for name, pod in pods.items():
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{name}/status"
        done = {"status": {"phase": "Succeeded"}}
        cluster.request("PATCH", path, done, content_type=STRATEGIC_MERGE_PATCH)


def _await_outdated(cluster: ControlPlane, tenant: TenantSet, status: str) -> None:
    """Return when kubectl says whether running pods have rights of before.

    That the last of them has ended is noticed within half a minute, not at once.
    """
    cluster.kubectl(
        *("wait", "rdmapolicy/default", "-n", tenant.name, "--timeout=55s"),
        f"--for=condition=Outdated={status}",
    )


def _lasting(pods: dict[str, Document]) -> dict[str, tuple[str, Document]]:
    """Return what has to stay of pods: who they are, and all that they were given."""
    return {name: (pod["metadata"]["uid"], tenants.essential(pod)) for name, pod in pods.items()}


def _assert_all(pods: dict[str, Document], wanted: Document) -> None:
    assert [tenants.essential(pod) for pod in pods.values()] == [wanted] * len(pods)


# ------------------------------------------------------------------ deployments


def test_a_deployment_grows_shrinks_and_is_rolled_under_a_changed_policy(
    controlplane: ControlPlane, tenant: TenantSet, pods: Pods
) -> None:
    """Another number: its pods stay as they are, those that come have the new one."""
    _create(controlplane, tenant.workload)
    before = pods(2)
    _assert_all(before, tenant.equipped(OLD))
    _await_outdated(controlplane, tenant, "False")
    _renumber(controlplane, tenant)
    _await_outdated(controlplane, tenant, "True")
    assert _lasting(pods(2)) == _lasting(before)
    scale = ("scale", f"deployment/{tenant.name}", "-n", tenant.name)
    controlplane.kubectl(*scale, "--replicas=4")
    after = pods(4)
    assert _lasting({name: after.pop(name) for name in before}) == _lasting(before)
    _assert_all(after, tenant.equipped(NEW, generation=2))
    controlplane.kubectl(*scale, "--replicas=1")
    pods(1)
    controlplane.kubectl("rollout", "restart", f"deployment/{tenant.name}", "-n", tenant.name)
    _await_outdated(controlplane, tenant, "False")
    _assert_all(pods(1), tenant.equipped(NEW, generation=2))


def test_a_deployment_outlives_its_policy(
    controlplane: ControlPlane, webhook: Webhook, tenant: TenantSet, pods: Pods
) -> None:
    """The policy goes: its pods run on; a new one is refused, and comes with a policy."""
    _create(controlplane, tenant.workload)
    first, second = pods(2)
    before = _lasting(pods(2))
    controlplane.request("DELETE", tenants.policy_path(tenant.name))
    _await_refusal(controlplane, tenant, first)
    assert _lasting(pods(1)) == {second: before[second]}
    events = f"/api/v1/namespaces/{tenant.name}/events?fieldSelector=reason=FailedCreate"
    told = controlplane.wait_for(
        "an event of the ReplicaSet", lambda: controlplane.request("GET", events)["items"]
    )
    assert f"namespace {tenant.name} has no RDMAPolicy" in told[0]["message"]
    _create(controlplane, tenant.policy_of(NEW))
    after = pods(2)
    assert _lasting({second: after.pop(second)}) == {second: before[second]}
    _assert_all(after, tenant.equipped(NEW))
    refused = [one for one in webhook.decisions(tenant.name, f"{tenant.name}-*") if "reason" in one]
    assert {one["reason"] for one in refused} <= {"PolicyNotReady"}


def _await_refusal(cluster: ControlPlane, tenant: TenantSet, name: str) -> None:
    """Delete a pod once new ones are refused, so that its replacement is."""
    probe = tenants.pod("probe", {NETWORK: tenant.name})

    def refused() -> bool:
        status, _ = tenants.post(cluster, tenant.name, probe, user="admin", dry_run=True)
        return status == 403

    cluster.wait_for("pods without a policy are refused", refused)
    cluster.delete_pod(tenant.name, name)


# ------------------------------------------------------------------------- jobs


def test_a_job_ends_under_a_changed_policy(
    controlplane: ControlPlane, tenant: TenantSet, pods: Pods
) -> None:
    """Its pods of before end as they began, the others have the new number, and it completes."""
    _create(controlplane, tenant.job("train", completions=4))
    before = pods(2)
    _renumber(controlplane, tenant)
    _await_outdated(controlplane, tenant, "True")
    assert _lasting(pods(2)) == _lasting(before)
    _finish(controlplane, before)
    after = pods(2)
    assert not set(after) & set(before)
    _assert_all(after, tenant.equipped(NEW, generation=2))
    _finish(controlplane, after)
    _await_completion(controlplane, tenant, 4)


def test_the_pods_of_a_job_end_while_there_is_no_policy(
    controlplane: ControlPlane, tenant: TenantSet, pods: Pods
) -> None:
    """Finalizers go, success is counted; the rest of the Job waits for a policy and then ends."""
    _create(controlplane, tenant.job("train", completions=3))
    before = pods(2)
    assert all(pod["metadata"]["finalizers"] == [TRACKED] for pod in before.values())
    controlplane.request("DELETE", tenants.policy_path(tenant.name))
    _finish(controlplane, before)
    path = f"/apis/batch/v1/namespaces/{tenant.name}/jobs/train"
    controlplane.wait_for(
        "both are counted", lambda: controlplane.request("GET", path)["status"]["succeeded"] == 2
    )
    _await_free(controlplane, tenant)
    _create(controlplane, tenant.policy)
    _finish(controlplane, pods(1))
    _await_completion(controlplane, tenant, 3)


def _await_completion(cluster: ControlPlane, tenant: TenantSet, count: int) -> None:
    """Return when the Job is complete with so many pods, all of them free to go."""
    cluster.kubectl(
        *("wait", "job/train", "-n", tenant.name, "--for=condition=Complete", "--timeout=50s")
    )
    assert len(_await_free(cluster, tenant)) == count


def _await_free(cluster: ControlPlane, tenant: TenantSet) -> list[Document]:
    """Return the pods that have ended, once none of them has a finalizer."""
    path = f"/api/v1/namespaces/{tenant.name}/pods"

    def free() -> list[Document] | None:
        ended = [
            pod
            for pod in cluster.request("GET", path)["items"]
            if pod["status"]["phase"] == "Succeeded"
        ]
        return None if any("finalizers" in pod["metadata"] for pod in ended) else ended

    return cluster.wait_for("no finalizer is left", free)
