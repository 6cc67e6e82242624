"""A CRD of an earlier and of a later version under our webhook: it goes on, and says what it met.

Both are made from ours: the earlier one lacks optional fields and every rule, the later one has a
field, a mode and a status field more. Each is in a cluster of its own.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from policies.manifests.crd import VALIDATIONS, documents
from policies.names import OUR_USER
from tests.harness import tenants
from tests.harness.controlplane import ControlPlane
from tests.harness.crd_cases import Object
from tests.harness.tenants import NETWORK
from tests.harness.webhook import CONFIGURATION, Webhook, apply_examples, shipped

NETWORKS, PARTITIONS, POLICIES = documents()
YOUNG_FIELDS = {
    NETWORKS: (
        ("spec", "rails", "[]", "altNames"),
        ("spec", "rails", "[]", "hca"),
        ("spec", "podDefaults", "nodeSelector"),
    ),
    PARTITIONS: (("status", "conditions"),),
    POLICIES: (
        ("spec", "minimumIsolation"),
        ("spec", "rawNetworks"),
        ("spec", "podLimits", "hostPaths"),
        ("spec", "podLimits", "podSecurityConflict"),
    ),
}
"""Optional fields that an earlier version might lack; the examples use none of them."""


def _version(crd: Object) -> Any:  # noqa: ANN401 a part of JSON
    return crd["spec"]["versions"][0]


def _root(crd: Object) -> Any:  # noqa: ANN401 a part of JSON
    return _version(crd)["schema"]["openAPIV3Schema"]


def _at(crd: Object, steps: tuple[str, ...]) -> Any:  # noqa: ANN401 a part of JSON
    node = _root(crd)
    for step in steps:
        node = node["items"] if step == "[]" else node["properties"][step]
    return node


def _without_rules(node: Any) -> Any:  # noqa: ANN401 a part of JSON
    if isinstance(node, list):
        return [_without_rules(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {key: _without_rules(value) for key, value in node.items() if key != VALIDATIONS}


def earlier() -> dict[str, Object]:
    """Our CRDs as an earlier version might have had them."""
    found: dict[str, Object] = _without_rules(documents())
    for name, crd in found.items():
        for *parents, field in YOUNG_FIELDS[name]:
            del _at(crd, tuple(parents))["properties"][field]
        _version(crd)["additionalPrinterColumns"] = []
    return found


def later() -> dict[str, Object]:
    """Our CRDs as a later version might have them."""
    found = copy.deepcopy(documents())
    extra = {"type": "integer", "description": "Lanes of a rail."}
    for crd in found.values():
        _at(crd, ("spec",))["properties"]["lanes"] = extra
        _at(crd, ("status",))["properties"]["lanes"] = extra
    _at(found[NETWORKS], ("spec", "mode"))["enum"].append("Quantum")
    return found


@contextmanager
def _running(crds: dict[str, Object]) -> Iterator[tuple[ControlPlane, Webhook]]:
    """Give a cluster with these CRDs and all else as shipped, and our webhook in it."""
    with ControlPlane(controllers=False, scheduler=False) as cluster:
        cluster.add_nad_crd()
        objects = [
            crds.get(one["metadata"]["name"], one)
            for one in shipped(cluster)
            if one["kind"] != CONFIGURATION
        ]
        cluster.apply(yaml.safe_dump_all(objects), server_side=True)
        for name in crds:
            cluster.wait_for_crd(name)
        apply_examples(cluster)
        with Webhook(cluster) as webhook:
            webhook.register()
            yield cluster, webhook


@pytest.fixture(scope="module")
def old() -> Iterator[tuple[ControlPlane, Webhook]]:
    """Our webhook over an earlier CRD."""
    with _running(earlier()) as found:
        yield found


@pytest.fixture(scope="module")
def new() -> Iterator[tuple[ControlPlane, Webhook]]:
    """Our webhook over a later CRD, with an object of its mode that team-a is granted."""
    with _running(later()) as (cluster, webhook):
        quantum = {
            "apiVersion": "rdma.io/v1alpha1",
            "kind": "RDMANetwork",
            "metadata": {"name": "entangled"},
            "spec": {
                "mode": "Quantum",
                "lanes": 4,
                "rails": [{"name": "r0", "resourceName": "rdma/hca_q"}],
            },
        }
        cluster.apply(yaml.safe_dump(quantum), server_side=True)
        grant = [{"op": "add", "path": "/spec/networks/-", "value": {"name": "entangled"}}]
        path = "/apis/rdma.io/v1alpha1/namespaces/team-a/rdmapolicies/default"
        cluster.request("PATCH", path, grant, content_type="application/json-patch+json")
        for kind, change in (
            ("rdmanetworks/roce", {"spec": {"lanes": 8}}),
            ("namespaces/team-a/rdmapolicies/default", {"spec": {"lanes": 8}}),
        ):
            url = f"/apis/rdma.io/v1alpha1/{kind}"
            cluster.request("PATCH", url, change, content_type="application/merge-patch+json")
        status = {"status": {"lanes": 8, "isolation": "Soft"}}
        url = "/apis/rdma.io/v1alpha1/rdmanetworks/roce/status"
        merge = "application/merge-patch+json"
        cluster.request("PATCH", url, status, user=OUR_USER, content_type=merge)
        cluster.wait_for("the webhook has seen it", lambda: _problems(webhook) == 1)
        yield cluster, webhook


def _problems(webhook: Webhook) -> int:
    return int(webhook.metric("rdma_webhook_snapshot_problems"))


def _unharmed(webhook: Webhook) -> None:
    assert webhook.is_running
    assert webhook.get("/readyz") == (200, "ready\n")
    assert "Traceback" not in webhook.log()


@pytest.mark.parametrize("network", ["roce", "train-ib", "roce-vf:2"])
def test_an_earlier_crd_serves_known_networks(
    old: tuple[ControlPlane, Webhook], network: str
) -> None:
    """Fields that are not there have the defaults of the models: pods are equipped as ever."""
    cluster, webhook = old
    status, stored = tenants.post(
        cluster, "team-a", tenants.pod("p", {NETWORK: network}), user="alice", dry_run=True
    )
    assert status == 201, stored
    assert tenants.status(stored)["networks"] == [network.partition(":")[0]]
    assert _problems(webhook) == 0
    _unharmed(webhook)


def test_what_an_earlier_crd_lets_through_is_a_problem_to_the_webhook(
    old: tuple[ControlPlane, Webhook],
) -> None:
    """A contradiction that was stored without a rule is counted as a problem, until it goes."""
    cluster, webhook = old
    broken = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": "broken"},
        "spec": {"mode": "DRA", "rails": [{"name": "r0", "resourceName": "rdma/x"}]},
    }
    cluster.apply(yaml.safe_dump(broken), server_side=True)
    cluster.wait_for("the webhook has seen it", lambda: _problems(webhook) == 1)
    cluster.request("DELETE", "/apis/rdma.io/v1alpha1/rdmanetworks/broken")
    cluster.wait_for("the webhook has seen it go", lambda: _problems(webhook) == 0)
    _unharmed(webhook)


@pytest.mark.parametrize("network", ["roce", "train-ib", "roce-vf:2"])
def test_a_later_crd_serves_known_networks(new: tuple[ControlPlane, Webhook], network: str) -> None:
    """Fields that we do not know are passed over, in networks, policies and statuses."""
    cluster, webhook = new
    status, stored = tenants.post(
        cluster, "team-a", tenants.pod("p", {NETWORK: network}), user="alice", dry_run=True
    )
    assert status == 201, stored
    assert tenants.status(stored)["networks"] == [network.partition(":")[0]]
    _unharmed(webhook)


def test_a_later_mode_is_refused_by_its_name(new: tuple[ControlPlane, Webhook]) -> None:
    """A pod on it reads network, field and mode, and who can help; nothing else is touched."""
    cluster, webhook = new
    status, answer = tenants.post(
        cluster, "team-a", tenants.pod("p", {NETWORK: "entangled"}), user="alice", dry_run=True
    )
    assert status == 403, answer
    said = answer["message"]
    assert "RDMANetwork entangled: spec.mode: " in said
    assert '"Quantum"' in said
    assert "the platform admin can" in said
    assert "\n" not in said
    assert _problems(webhook) == 1
    _unharmed(webhook)


def test_a_later_object_survives_our_own_crd(new: tuple[ControlPlane, Webhook]) -> None:
    """A downgrade: what is stored stays readable and deletable, the fields unknown now are gone."""
    cluster, webhook = new
    url = "/apis/rdma.io/v1alpha1/rdmanetworks"
    kept = cluster.request("GET", f"{url}/roce")
    assert kept["spec"]["lanes"] == 8
    cluster.apply(yaml.safe_dump_all(documents().values()), server_side=True)

    def is_pruned() -> bool:
        return "lanes" not in cluster.request("GET", f"{url}/roce")["spec"]

    cluster.wait_for("our schema is served", is_pruned)
    assert cluster.request("GET", f"{url}/entangled")["spec"]["mode"] == "Quantum"
    status, stored = tenants.post(
        cluster, "team-a", tenants.pod("p", {NETWORK: "roce"}), user="alice", dry_run=True
    )
    assert status == 201, stored
    change = {"metadata": {"labels": {"a": "b"}}}
    kind = "application/merge-patch+json"
    status, answer = cluster.api("PATCH", f"{url}/entangled", change, content_type=kind)
    assert status == 200, answer
    policy = cluster.request("GET", tenants.policy_path("team-a"))
    names = [one["name"] for one in policy["spec"]["networks"]]
    removal = [{"op": "remove", "path": f"/spec/networks/{names.index('entangled')}"}]
    kind = "application/json-patch+json"
    cluster.request("PATCH", tenants.policy_path("team-a"), removal, content_type=kind)
    cluster.wait_for(
        "the network can go", lambda: cluster.api("DELETE", f"{url}/entangled")[0] == 200
    )
    cluster.wait_for("the webhook has seen it go", lambda: _problems(webhook) == 0)
    _unharmed(webhook)
