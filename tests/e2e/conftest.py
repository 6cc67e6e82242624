"""The real parts, as fixtures: one control plane and one set of readers for the whole run."""

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from policies.names import OUR_USER
from tests.harness import audit, tenants
from tests.harness.controlplane import ControlPlane
from tests.harness.guarded import Guarded
from tests.harness.kubelet import KubeletDouble
from tests.harness.readers import Readers
from tests.harness.tenants import Tenant
from tests.harness.webhook import Webhook, apply_examples, install


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run last what looks back on all the others."""
    items.sort(key=lambda item: item.get_closest_marker("looks_back") is not None)


@pytest.fixture(scope="session")
def audit_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder in which the shared cluster notes what the webhook's account does."""
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="session")
def controlplane(audit_folder: Path) -> Iterator[ControlPlane]:
    """Give a running cluster that all tests share; keep objects in namespaces of your own."""
    with ControlPlane(apiserver_flags=audit.flags(audit_folder, OUR_USER)) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def readers() -> Iterator[Readers]:
    """Give Multus's own parsers."""
    with Readers() as program:
        yield program


@pytest.fixture
def namespace(controlplane: ControlPlane) -> Iterator[str]:
    """Give a fresh namespace in which nothing but admin may write; it is deleted afterwards."""
    name = f"test-{secrets.token_hex(4)}"
    controlplane.add_namespace(name)
    yield name
    controlplane.api("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def kubelet_double(controlplane: ControlPlane) -> Iterator[Callable[..., KubeletDouble]]:
    """Give a maker of nodes: ``kubelet_double(node, devices, …)``; they end with the test."""
    if os.geteuid() != 0:
        pytest.skip("the data plane needs root, for network namespaces")
    started: list[KubeletDouble] = []

    def make(*arguments: object, **keywords: object) -> KubeletDouble:
        double = KubeletDouble(controlplane, *arguments, **keywords)  # type: ignore[arg-type]
        double.start()
        started.append(double)
        return double

    yield make
    for double in started:
        double.delete_all()
        double.stop()


@pytest.fixture(scope="session")
def webhook(controlplane: ControlPlane) -> Iterator[Webhook]:
    """Give the webhook, installed and registered as shipped, with the example tenants.

    All tests share it: leave it running. Users are alice in team-a and bob in team-b.
    """
    install(controlplane)
    apply_examples(controlplane)
    with Webhook(controlplane) as served:
        served.register()
        yield served


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Give a cluster of its own whose webhook may be stopped, and users who differ in grants."""
    with Guarded(tmp_path_factory.mktemp("audit")) as cluster:
        yield cluster


@pytest.fixture
def unharmed(webhook: Webhook) -> Iterator[None]:
    """Whatever a test sends: the same process runs on, healthy, and logged no mistake of ours."""
    before = len(webhook.log())
    yield
    assert webhook.is_running
    assert webhook.get("/healthz") == (200, "ok\n")
    assert webhook.get("/readyz") == (200, "ready\n")
    written = webhook.log()[before:]
    assert "Traceback" not in written
    assert '"level":"error"' not in written
    assert webhook.review(tenants.pod("after", {tenants.NETWORK: "roce"}), "team-a")["allowed"]


@pytest.fixture
def example_tenants(controlplane: ControlPlane, webhook: Webhook) -> Iterator[None]:
    """Give team-a and team-b without a pod, and take away what a test leaves there."""
    assert webhook.is_running
    yield
    for namespace in controlplane.tenants.values():
        _empty(controlplane, namespace)


def _empty(cluster: ControlPlane, namespace: str) -> None:
    """Delete workloads and pods, at once: no kubelet is here that would end them."""
    for collection in ("apps/v1/namespaces/{}/deployments", "batch/v1/namespaces/{}/jobs"):
        path = f"/apis/{collection.format(namespace)}?propagationPolicy=Background"
        cluster.request("DELETE", path)
    pods = f"/api/v1/namespaces/{namespace}/pods"

    def is_empty() -> bool:
        found = cluster.request("GET", pods)["items"]
        for pod in found:
            cluster.delete_pod(namespace, pod["metadata"]["name"])
        return not found

    cluster.wait_for(f"{namespace} without pods", is_empty)


@pytest.fixture
def make_tenant(controlplane: ControlPlane, webhook: Webhook) -> Iterator[Callable[..., Tenant]]:
    """Give a maker of tenants: ``make_tenant("roce", user="alice", …)``, ready for pods.

    Each has a namespace of its own, a grant of the network with a number of its own, and the
    attachments; further keywords are fields of the policy's ``spec``.
    """
    assert webhook.is_running
    made: list[str] = []

    def make(network: str, *, user: str = "alice", **spec: object) -> Tenant:
        tenant = Tenant(f"tenant-{secrets.token_hex(4)}", user, tenants.next_number())
        made.append(tenant.namespace)
        controlplane.add_tenant(user, tenant.namespace)
        tenants.create(
            controlplane,
            *tenants.attachments(tenant.namespace, network, tenant.number),
            tenants.policy(tenant.namespace, [tenants.grant(network, tenant.number)], **spec),
        )
        probe = tenants.pod("probe", {tenants.NETWORK: network})
        controlplane.wait_for(
            f"{tenant.namespace} is known to the webhook",
            lambda: (
                tenants.post(controlplane, tenant.namespace, probe, user=user, dry_run=True)[0]
                == 201
            ),
        )
        return tenant

    yield make
    for namespace in made:
        _empty(controlplane, namespace)
        controlplane.api("DELETE", f"/api/v1/namespaces/{namespace}")
