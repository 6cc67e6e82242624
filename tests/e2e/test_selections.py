"""What Multus and libcni themselves read of what the webhook wrote and of what is shipped."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.harness import tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.readers import Readers
from tests.harness.tenants import NETWORK, NETWORKS, Tenant
from tests.harness.webhook import EXAMPLES, documents

MakeTenant = Callable[..., Tenant]

PODS = EXAMPLES / "pods"

OWN_SELECTIONS = {
    "short": "storage, {namespace}/storage@store0",
    "json": '[{"name":"storage","interface":"store0","bandwidth":{"ingressRate":2048}}]',
}
"""Selections of a NAD that is none of our business, in both spellings."""


def _as_multus_reads(readers: Readers, pod: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Namespace, name and interface of what Multus selects for a stored pod."""
    meta = pod["metadata"]
    elements = readers.selection(meta["namespace"], meta.get("annotations", {}).get(NETWORKS, ""))
    assert isinstance(elements, list), elements
    return [(one["namespace"], one["name"], one.get("interface", "")) for one in elements]


@pytest.mark.usefixtures("example_tenants")
@pytest.mark.parametrize(
    "file",
    sorted(path for path in PODS.glob("*.yaml") if documents(path)[0]["kind"] == "Pod"),
    ids=lambda path: path.stem,
)
def test_multus_reads_what_the_status_says(
    controlplane: ControlPlane, readers: Readers, file: Path
) -> None:
    """The stored selections of each example pod are, to Multus, the interfaces of its status."""
    (pod,) = documents(file)
    namespace = pod["metadata"]["namespace"]
    user = {place: name for name, place in controlplane.tenants.items()}[namespace]
    status, stored = tenants.post(controlplane, namespace, pod, user=user)
    if pod["metadata"]["name"] == "refused":
        assert (status, stored["reason"]) == (403, "NetworkNotGranted")
        return
    assert status == 201, stored
    said = tenants.status(stored)
    read = _as_multus_reads(readers, stored)
    assert [interface for _, _, interface in read] == said.get("interfaces", [])
    assert {place for place, _, _ in read} <= {namespace}
    rendered = {
        nad["metadata"]["name"]: nad["metadata"]["labels"]["rdma.io/rendered"]
        for nad in documents(EXAMPLES / "attachments" / f"{namespace}.yaml")
    }
    by_multus = [rendered[name] for _, name, _ in read]
    assert set(by_multus) <= set(said["networks"])
    assert by_multus == sorted(by_multus, key=said["networks"].index)


@pytest.mark.parametrize("spelling", OWN_SELECTIONS)
def test_multus_reads_the_users_own_selections_first_and_unchanged(
    controlplane: ControlPlane, readers: Readers, make_tenant: MakeTenant, spelling: str
) -> None:
    """Elements of the author are to Multus what they were, and ours come after them."""
    tenant = make_tenant("roce")
    config = {"cniVersion": "0.3.1", "name": "storage", "type": "bridge", "bridge": "br-storage"}
    storage = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "storage", "namespace": tenant.namespace},
        "spec": {"config": json.dumps(config)},
    }
    tenants.create(controlplane, storage)
    own = OWN_SELECTIONS[spelling].replace("{namespace}", tenant.namespace)
    before = readers.selection(tenant.namespace, own)
    body = tenants.pod("own", {NETWORK: "roce", NETWORKS: own})
    status, stored = tenants.post(controlplane, tenant.namespace, body, user="alice")
    assert status == 201, stored
    after = readers.selection(tenant.namespace, stored["metadata"]["annotations"][NETWORKS])
    assert isinstance(before, list)
    assert isinstance(after, list)
    assert after[: len(before)] == before
    ours = [(one["name"], one["interface"]) for one in after[len(before) :]]
    assert ours == [(f"rdma-roce-r{r}-v{tenant.number:04d}", f"rdma{r}") for r in range(2)]


@pytest.mark.parametrize(
    "nad",
    documents(EXAMPLES / "attachments"),
    ids=lambda nad: f"{nad['metadata']['namespace']}/{nad['metadata']['name']}",
)
def test_the_cni_library_loads_every_example_attachment(readers: Readers, nad: Document) -> None:
    """What is shipped is a network to libcni, with one plugin and the numbers as CNIs read them."""
    network = readers.nad(nad)
    assert isinstance(network, dict), network
    config = json.loads(nad["spec"]["config"])
    (plugin,) = network["plugins"]
    assert network["name"] == config["name"] == nad["metadata"]["name"]
    assert (plugin["type"], plugin["ipamType"]) == (config["type"], config["ipam"]["type"])
    for key in ("master", "vlan", "pkey"):
        assert plugin["fields"].get(key) == config.get(key)
