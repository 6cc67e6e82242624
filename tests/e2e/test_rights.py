"""The webhook's account: every right that it has is used, and none that it needs is missing.

Looks back on all that the shared cluster's API server noted while the other tests ran.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from policies.names import OUR_USER
from tests.harness import audit, tenants
from tests.harness.audit import Deed
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK
from tests.harness.webhook import ACCOUNT, NAMESPACE, Webhook, install, shipped

pytestmark = pytest.mark.looks_back

FORBIDDEN = 403


class Right(NamedTuple):
    """One verb on one resource.

    Attributes:
        namespace: In which a Role gives it; empty for a ClusterRole.
        names: To which objects it is limited; empty for all.
    """

    group: str
    resource: str
    verb: str
    namespace: str
    names: tuple[str, ...]

    def covers(self, deed: Deed) -> bool:
        """Whether a request needed this right."""
        return (
            (deed.group, deed.resource, deed.verb) == (self.group, self.resource, self.verb)
            and self.namespace in {"", deed.namespace}
            and (not self.names or deed.name in self.names)
        )


def _rights(cluster: ControlPlane) -> list[Right]:
    """Return what the shipped roles of the webhook's account say."""
    return [
        Right(
            group,
            resource,
            verb,
            role["metadata"].get("namespace", ""),
            tuple(rule.get("resourceNames", ())),
        )
        for role in shipped(cluster)
        if role["kind"] in {"Role", "ClusterRole"} and role["metadata"]["name"] == ACCOUNT
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


@pytest.fixture(scope="module")
def without_streams(tmp_path_factory: pytest.TempPathFactory) -> list[Deed]:
    """Give what the account does at an API server that streams no lists, as older ones."""
    folder = tmp_path_factory.mktemp("audit")
    flags = [*audit.flags(folder, OUR_USER), "--feature-gates=WatchList=false"]
    with ControlPlane(controllers=False, scheduler=False, apiserver_flags=flags) as cluster:
        install(cluster)
        with Webhook(cluster):
            return list(audit.deeds(folder))


@pytest.fixture(scope="module")
def done(
    controlplane: ControlPlane,
    webhook: Webhook,
    audit_folder: Path,
    without_streams: list[Deed],
) -> list[Deed]:
    """Give all that the account did, with what only happens now and then done once more."""
    _wait_for_a_claim(controlplane)
    _let_a_pod_look_up_what_is_missing(controlplane)
    _leave_a_pod_behind(controlplane)
    assert webhook.is_running
    return [*audit.deeds(audit_folder), *without_streams]


def _wait_for_a_claim(cluster: ControlPlane) -> None:
    """Have the status of a partition written."""
    number = tenants.next_number()
    name = f"leaf-eth.vlan.{number:04d}"
    spec = {
        "fabric": "leaf-eth",
        "type": "VLAN",
        "number": number,
        "tenant": "reserved",
        "partition": "main",
    }
    partition = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPartition",
        "metadata": {"name": name},
        "spec": spec,
    }
    cluster.request("POST", "/apis/rdma.io/v1alpha1/rdmapartitions", partition)
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", f"rdmapart/{name}")
    cluster.request("DELETE", f"/apis/rdma.io/v1alpha1/rdmapartitions/{name}")


def _let_a_pod_look_up_what_is_missing(cluster: ControlPlane) -> None:
    """Have pods wait for a policy, a network and a NAD that never come."""
    number = tenants.next_number()
    namespace = f"rights-{number}"
    cluster.add_namespace(namespace)
    policies: list[list[Any]] = [[], [{"name": f"none-{number}"}], [tenants.grant("roce", number)]]
    for grants in policies:
        if grants:
            cluster.api("DELETE", tenants.policy_path(namespace))
            tenants.create(cluster, tenants.policy(namespace, grants))
            cluster.kubectl(
                "wait", "--for=condition=Ready=False", "rdmapolicy/default", "-n", namespace
            )
        name = grants[0]["name"] if grants else "roce"
        pod = tenants.pod("asking", {NETWORK: name})
        assert tenants.post(cluster, namespace, pod, user="admin")[0] == FORBIDDEN
    cluster.request("DELETE", f"/api/v1/namespaces/{namespace}")


def _leave_a_pod_behind(cluster: ControlPlane) -> None:
    """Have an event written about a pod whose policy goes."""
    number = tenants.next_number()
    namespace = f"rights-{number}"
    cluster.add_namespace(namespace)
    tenants.create(cluster, tenants.policy(namespace, [{"name": "efa"}]))
    path = tenants.policy_path(namespace)
    cluster.kubectl("wait", "--for=condition=Ready", "rdmapolicy/default", "-n", namespace)
    pod = tenants.pod("keeper", {NETWORK: "efa:1"}, {"memory": "1Gi"})
    assert tenants.post(cluster, namespace, pod, user="admin")[0] == 201
    cluster.request("DELETE", path)
    events = f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"
    cluster.wait_for(
        "an event",
        lambda: [
            one for one in cluster.request("GET", events)["items"] if one["reason"] == "Outdated"
        ],
    )
    cluster.request("DELETE", f"/api/v1/namespaces/{namespace}")


def test_every_right_is_used(controlplane: ControlPlane, done: list[Deed]) -> None:
    """A rule that nothing exercises is one too many."""
    unused = [
        right
        for right in _rights(controlplane)
        if not any(right.covers(deed) for deed in done if deed.code != FORBIDDEN)
    ]
    assert unused == []


def test_no_right_is_missing(controlplane: ControlPlane, done: list[Deed]) -> None:
    """Whatever was done is in the roles that we ship, and nothing was forbidden."""
    rights = _rights(controlplane)
    strange = {deed for deed in done if not any(right.covers(deed) for right in rights)}
    assert strange == set()
    assert {_what(deed) for deed in done if deed.code == FORBIDDEN} <= _succeeded(done)


def _what(deed: Deed) -> tuple[str, str, str]:
    return deed.group, deed.resource, deed.verb


def _succeeded(done: list[Deed]) -> set[tuple[str, str, str]]:
    """What was allowed once; a namespace that ends takes no event, whatever the rights are."""
    return {_what(deed) for deed in done if deed.code < FORBIDDEN}


def test_the_account_is_bound_to_these_roles_alone(controlplane: ControlPlane) -> None:
    """No other binding of what we ship names it."""
    bindings = [one for one in shipped(controlplane) if one["kind"].endswith("RoleBinding")]
    names = {
        (one["kind"], one["roleRef"]["name"])
        for one in bindings
        for subject in one["subjects"]
        if (subject.get("namespace"), subject["name"]) == (NAMESPACE, ACCOUNT)
    }
    assert names == {("RoleBinding", ACCOUNT), ("ClusterRoleBinding", ACCOUNT)}
