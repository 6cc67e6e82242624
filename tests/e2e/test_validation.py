"""What an admin reads from the real kubectl when objects of ours contradict each other."""

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from policies.names import OUR_USER
from tests.harness import tenants
from tests.harness.api import MERGE_PATCH
from tests.harness.calls import VALIDATE, Document
from tests.harness.clients import ADMIN
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK
from tests.harness.webhook import Webhook, apply_examples, install

DENIED = 'admission webhook "objects.rdma.io" denied the request: '
NETWORKS_PATH = "/apis/rdma.io/v1alpha1/rdmanetworks"
PARTITIONS_PATH = "/apis/rdma.io/v1alpha1/rdmapartitions"
TAKEN = 210
"""VLAN of team-a, tenant acme, on the example network roce."""

Shown = subprocess.CompletedProcess[str]


def _apply(cluster: ControlPlane, *objects: Document, dry_run: bool = False) -> Shown:
    """What kubectl says about objects in one file, applied in this order."""
    flags = ["--dry-run=server"] if dry_run else []
    manifest = yaml.safe_dump_all(objects)
    return cluster.kubectl("apply", *flags, "-f", "-", stdin=manifest, check=False)


def _delete(cluster: ControlPlane, kind: str, name: str) -> Shown:
    return cluster.kubectl("delete", kind, name, "--wait=false", check=False)


def _network(name: str, fabric: str = "", **spec: object) -> Document:
    usual = {
        "mode": "SRIOVEthernet",
        "fabric": fabric or name,
        "partition": {"type": "VLAN", "min": 200, "max": 299},
        "rails": [{"name": "r0", "resourceName": "nvidia.com/validation"}],
    }
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": name},
        "spec": {**usual, **spec},
    }


def _partition(fabric: str, number: int, tenant: str) -> Document:
    spec = {"fabric": fabric, "type": "VLAN", "number": number, "tenant": tenant}
    return {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPartition",
        "metadata": {"name": f"{fabric}.vlan.{number:04d}"},
        "spec": {**spec, "partition": "main"},
    }


def _warnings(shown: Shown) -> list[str]:
    """What kubectl prints as warnings; none where it failed."""
    assert shown.returncode == 0, shown.stderr
    return [
        line.removeprefix("Warning: ")
        for line in shown.stderr.splitlines()
        if line.startswith("Warning: ")
    ]


def _knows(cluster: ControlPlane, namespace: str, network: str) -> bool:
    """Tell whether the webhook has seen a network."""
    asked = tenants.policy(namespace, [{"name": network}])
    return not _warnings(_apply(cluster, asked, dry_run=True))


@pytest.fixture
def network(controlplane: ControlPlane, webhook: Webhook, namespace: str) -> Iterator[str]:
    """Give a fresh network of a fabric of its own, which the webhook knows; VLANs 200 to 299."""
    assert webhook.is_running
    assert not _warnings(_apply(controlplane, _network(namespace)))
    controlplane.wait_for(
        "the network is known", lambda: _knows(controlplane, namespace, namespace)
    )
    yield namespace
    controlplane.api("DELETE", tenants.policy_path(namespace))
    controlplane.wait_for(
        "the network can go",
        lambda: controlplane.api("DELETE", f"{NETWORKS_PATH}/{namespace}")[0] in {200, 404},
    )


# ------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("grant", "reason", "message"),
    [
        pytest.param(
            tenants.grant("roce", 310),
            "PartitionNumberInvalid",
            r"spec\.networks\[roce\]\.partitions\[main\]\.number: VLAN 310 is outside RDMANetwork "
            "roce's range 200 to 299",
            id="outside the range",
        ),
        pytest.param(
            tenants.grant("train-ib", 0x200),
            "PartitionNumberInvalid",
            "PKey 0x0200 is outside RDMANetwork train-ib's range 0x0010 to 0x01ff",
            id="outside the range of PKeys",
        ),
        pytest.param(
            tenants.grant("efa", 210),
            "PartitionNumberInvalid",
            r"spec\.networks\[efa\]\.partitions\[main\]\.number: RDMANetwork efa carries no part",
            id="a number where there is none",
        ),
        pytest.param(
            tenants.grant("roce", TAKEN),
            "PartitionConflict",
            r"spec\.networks\[roce\]\.partitions\[main\]\.number: VLAN 210 of fabric leaf-eth "
            "belongs to another tenant; .*kubectl get rdmapartitions",
            id="another tenant's number",
        ),
        pytest.param(
            tenants.grant("roce-vf", TAKEN),
            "PartitionConflict",
            "VLAN 210 of fabric leaf-eth belongs to another tenant",
            id="another tenant's number on another network of the fabric",
        ),
    ],
)
@pytest.mark.usefixtures("webhook")
def test_a_number_that_cannot_be_is_refused(
    controlplane: ControlPlane, namespace: str, grant: Document, reason: str, message: str
) -> None:
    """Kubectl prints one sentence with the field; nothing is stored, and no tenant is named."""
    policy = tenants.policy(namespace, [grant])
    for dry_run in (True, False):
        shown = _apply(controlplane, policy, dry_run=dry_run)
        assert shown.returncode == 1
        assert f"({reason})" in shown.stderr
        assert f"{DENIED}RDMAPolicy {namespace}/default: " in shown.stderr
        assert re.search(message, shown.stderr)
        assert "acme" not in shown.stderr
        assert "team-a" not in shown.stderr
    assert controlplane.find(tenants.policy_path(namespace)) is None


@pytest.mark.usefixtures("webhook")
def test_the_same_tenant_may_use_its_number_in_another_namespace(
    controlplane: ControlPlane, namespace: str
) -> None:
    """Namespaces of one tenant share its partitions; leaving the tenant leaves the number too."""
    grants = [tenants.grant("roce", TAKEN)]
    assert not _warnings(_apply(controlplane, tenants.policy(namespace, grants, tenant="acme")))
    shown = _apply(controlplane, tenants.policy(namespace, grants, tenant="other"))
    assert "(PartitionConflict)" in shown.stderr
    assert not _warnings(_apply(controlplane, tenants.policy(namespace, [], tenant="other")))


def test_a_reserved_number_is_its_tenants(controlplane: ControlPlane, network: str) -> None:
    """An RDMAPartition is a claim before any policy names the number."""
    reserved = _partition(network, 250, "bolt")
    assert not _warnings(_apply(controlplane, reserved))
    policy = tenants.policy(network, [tenants.grant(network, 250)])

    def refused() -> bool:
        return "(PartitionConflict)" in _apply(controlplane, policy, dry_run=True).stderr

    controlplane.wait_for("the reservation is known", refused)
    bolts = tenants.policy(network, [tenants.grant(network, 250)], tenant="bolt")
    assert not _warnings(_apply(controlplane, bolts))
    name = reserved["metadata"]["name"]
    told: list[str] = []

    def is_told() -> bool:
        shown = controlplane.kubectl("delete", "rdmapart", name, "--dry-run=server")
        told[:] = _warnings(shown)
        return bool(told)

    controlplane.wait_for("the policy is known", is_told)
    (warning,) = told
    assert warning == (
        f"VLAN 250 of fabric {network} is still named by policies of its tenant: {network}; it is "
        "reserved no more"
    )
    assert _warnings(_delete(controlplane, "rdmapart", name)) == told


def test_a_network_in_use_is_not_deleted(controlplane: ControlPlane, network: str) -> None:
    """The refusal has the names; once the policies let go, the network goes."""
    _warnings(_apply(controlplane, tenants.policy(network, [{"name": network}])))

    def refusal() -> str | None:
        shown = controlplane.kubectl("delete", "rdmanet", network, "--dry-run=server", check=False)
        return shown.stderr if shown.returncode else None

    controlplane.wait_for("the grant is known", refusal)
    shown = _delete(controlplane, "rdmanet", network)
    assert shown.returncode == 1
    assert "(NetworkInUse)" in shown.stderr
    assert (
        f"{DENIED}RDMANetwork {network}: the RDMAPolicies of namespaces {network} name it in "
        "spec.networks; who may write these policies can take the entry out" in shown.stderr
    )
    assert controlplane.find(f"{NETWORKS_PATH}/{network}") is not None
    _warnings(_apply(controlplane, tenants.policy(network, [])))
    controlplane.wait_for("the policy has let go", lambda: not refusal())
    assert not _warnings(_delete(controlplane, "rdmanet", network))
    controlplane.wait_until_gone(f"{NETWORKS_PATH}/{network}")


# -------------------------------------------------------------------- warned


@pytest.mark.parametrize(
    ("granted", "spec", "warning"),
    [
        pytest.param(
            "later",
            {},
            "spec.networks: there is no RDMANetwork later yet; pods that ask for it are refused",
            id="an unknown network",
        ),
        pytest.param(
            "lingjun",
            {},
            "spec.networks[lingjun]: a HostNetwork network needs spec.podLimits.hostNetwork: true",
            id="a host network without its limit",
        ),
        pytest.param("lingjun", {"podLimits": {"hostNetwork": True}}, "", id="with its limit"),
        pytest.param(
            "roce",
            {"minimumIsolation": "Hard"},
            "spec.minimumIsolation: is Hard, but network roce gives Soft at most",
            id="more isolation than there is",
        ),
    ],
)
@pytest.mark.usefixtures("webhook")
def test_what_may_come_right_is_a_warning(
    controlplane: ControlPlane, namespace: str, granted: str, spec: Document, warning: str
) -> None:
    """The policy is stored, and its author reads what is missing."""
    policy = tenants.policy(namespace, [{"name": granted}], **spec)
    assert _warnings(_apply(controlplane, policy)) == ([warning] if warning else [])
    assert controlplane.find(tenants.policy_path(namespace)) is not None


@pytest.mark.usefixtures("webhook")
def test_a_network_that_is_not_accepted_is_told(controlplane: ControlPlane) -> None:
    """The settings decide which resources are governed, so no CEL rule can know."""
    rails = [{"name": "r0", "resourceName": "acme.io/nic"}]
    shown = _apply(controlplane, _network("alien", rails=rails), dry_run=True)
    (warning,) = _warnings(shown)
    assert warning == (
        "not Accepted: spec.rails[r0].resourceName: acme.io/nic is outside the settings' "
        "governedResources or is an accelerator"
    )


def test_a_narrower_range_tells_who_is_left_outside(
    controlplane: ControlPlane, network: str
) -> None:
    """The network is changed, and the policy can still be edited with its old number."""
    policy = tenants.policy(network, [tenants.grant(network, 250)])
    assert not _warnings(_apply(controlplane, policy))
    narrow = _network(network, partition={"type": "VLAN", "min": 200, "max": 249})
    told: list[str] = []

    def is_told() -> bool:
        told[:] = _warnings(_apply(controlplane, narrow, dry_run=True))
        return bool(told)

    controlplane.wait_for("the policy is known", is_told)
    wanted = f"spec.partition: 1 policy names numbers outside it: {network}; their pods are refused"
    assert _warnings(_apply(controlplane, narrow)) == told == [wanted]
    changes = iter(range(1, 1000))

    def outcome() -> list[str]:
        edited = {**policy, "spec": {**policy["spec"], "tenant": None}}
        edited["spec"]["podLimits"] = {"sharedMemory": {"max": f"{next(changes)}Gi"}}
        return _warnings(_apply(controlplane, edited, dry_run=True))

    found = controlplane.wait_for("the narrow range is known", outcome)
    assert found == [
        f"spec.networks[{network}]: VLAN 250 is outside RDMANetwork {network}'s range 200 to 249"
    ]


@pytest.mark.usefixtures("webhook")
def test_files_apply_in_any_order(controlplane: ControlPlane, namespace: str) -> None:
    """A policy before its network is stored with a warning, and works once the network is there."""
    later = _network(
        namespace,
        mode="DeviceOnly",
        partition=None,
        rails=[{"name": "a", "resourceName": "rdma/later"}],
    )
    (warning,) = _warnings(_apply(controlplane, tenants.policy(namespace, [{"name": namespace}])))
    assert warning.startswith(f"spec.networks: there is no RDMANetwork {namespace} yet")
    try:
        assert not _warnings(_apply(controlplane, later))
        pod = tenants.pod("in-order", {NETWORK: namespace})
        status, answer = tenants.post(controlplane, namespace, pod, user="admin")
        assert status == 201, answer
    finally:
        controlplane.request("DELETE", tenants.policy_path(namespace))
        controlplane.wait_for(
            "the network can go",
            lambda: controlplane.api("DELETE", f"{NETWORKS_PATH}/{namespace}")[0] == 200,
        )


@pytest.mark.usefixtures("webhook")
def test_a_network_tells_who_collides_on_it(controlplane: ControlPlane, namespace: str) -> None:
    """Two policies that came before their network are in conflict as it joins them."""
    other = f"{namespace}-b"
    controlplane.add_namespace(other)
    for place in (namespace, other):
        policy = tenants.policy(place, [tenants.grant(namespace, 250)])
        assert len(_warnings(_apply(controlplane, policy))) == 1

    def told() -> list[str]:
        return _warnings(_apply(controlplane, _network(namespace), dry_run=True))

    (warning,) = controlplane.wait_for("both are known", told)
    assert warning == (
        f"VLAN 250 of fabric {namespace} is not one tenant's alone: see policies of {namespace}, "
        f"{other}"
    )
    controlplane.api("DELETE", f"/api/v1/namespaces/{other}")


# ----------------------------------------------------------------- not asked


@pytest.mark.usefixtures("network")
def test_nobody_is_asked_where_the_spec_stays(
    controlplane: ControlPlane, webhook: Webhook, namespace: str
) -> None:
    """Labels, finalizers and status never meet the webhook; a spec that changes does."""
    policy = tenants.policy(namespace, [tenants.grant(namespace, 250)])
    assert not _warnings(_apply(controlplane, policy))
    path = tenants.policy_path(namespace)
    # A status that is written meanwhile makes the API server begin a change anew, and ask again.
    controlplane.kubectl(
        "wait", "--for=condition=Ready=False", "rdmapolicy/default", f"-n{namespace}"
    )
    before = webhook.calls(VALIDATE)

    def merge(change: Document, subresource: str = "", user: str = ADMIN) -> None:
        controlplane.request(
            "PATCH", path + subresource, change, user=user, content_type=MERGE_PATCH
        )

    merge({"metadata": {"labels": {"a": "b"}, "finalizers": ["example.com/hold"]}})
    merge({"metadata": {"finalizers": None}})
    merge({"status": {"observedGeneration": 1}}, "/status", OUR_USER)
    assert webhook.calls(VALIDATE) == before
    merge({"spec": {"enforcement": "Warn"}})
    assert webhook.calls(VALIDATE) == before + 1
    controlplane.request("DELETE", path)
    assert webhook.calls(VALIDATE) == before + 1


def test_the_log_says_who_was_refused_what(
    controlplane: ControlPlane, webhook: Webhook, namespace: str
) -> None:
    """One line with kind, namespace and name; metrics count objects apart from pods."""
    metric = "rdma_webhook_decisions_total"
    labels = {"kind": "RDMAPolicy", "verdict": "Denied", "reason": "PartitionConflict"}
    before = webhook.metric(metric, **labels)
    _apply(controlplane, tenants.policy(namespace, [tenants.grant("roce", TAKEN)]))
    assert webhook.metric(metric, **labels) == before + 1
    lines = [json.loads(line) for line in webhook.log().splitlines() if f'"{namespace}"' in line]
    (line,) = [one for one in lines if one.get("event") == "object_refused"]
    assert (line["kind"], line["name"]) == ("RDMAPolicy", "default")
    assert (line["operation"], line["reason"]) == ("CREATE", "PartitionConflict")


# -------------------------------------------------------------------- outage


@pytest.fixture(scope="module")
def cluster() -> Iterator[ControlPlane]:
    """A control plane of our own, whose webhook these tests stop."""
    with ControlPlane(controllers=False, scheduler=False) as control_plane:
        install(control_plane)
        apply_examples(control_plane)
        yield control_plane


def test_an_outage_holds_no_admin_back_and_lets_no_pod_through(cluster: ControlPlane) -> None:
    """What slips in while nobody answers is refused with the pods, until an admin repairs it."""
    with contextlib.ExitStack() as stack:
        webhook = stack.enter_context(Webhook(cluster))
        webhook.register()
        cluster.add_namespace("rival")
        rival = tenants.policy("rival", [tenants.grant("roce", TAKEN)])
        assert "(PartitionConflict)" in _apply(cluster, rival).stderr
        webhook.kill()
        assert not _warnings(_apply(cluster, rival, *tenants.attachments("rival", "roce", TAKEN)))
        assert not _warnings(_delete(cluster, "rdmanet", "efa"))
        assert not _warnings(_apply(cluster, _partition("leaf-eth", 260, "nobody")))
        webhook.start()
        webhook.wait_until_ready()
        webhook.register()
        refused = {
            "rival": _refusal(cluster, "rival", "roce"),
            "team-a": _refusal(cluster, "team-a", "roce"),
            "efa": _refusal(cluster, "team-a", "efa"),
        }
        assert refused["rival"].startswith("PartitionConflict: RDMAPolicy rival/default: ")
        assert refused["team-a"].startswith("PartitionConflict: RDMAPolicy team-a/default: ")
        assert refused["efa"].startswith("PolicyNotReady: ")
        _settle(cluster, rival)


def _refusal(cluster: ControlPlane, namespace: str, network: str) -> str:
    """Reason and message of a pod that asks for a network."""
    pod = tenants.pod("asking", {NETWORK: network})
    status, answer = tenants.post(cluster, namespace, pod, user="admin", dry_run=True)
    return "" if status == 201 else f"{answer['reason']}: {answer['message'].partition(': ')[2]}"


def _settle(cluster: ControlPlane, rival: Document) -> None:
    """A conflict is repaired: the rival's policy is edited, then a reservation says whose it is."""
    edited = {**rival, "spec": {**rival["spec"], "enforcement": "Warn"}}
    (told,) = _warnings(_apply(cluster, edited))
    assert told == "spec.networks[roce]: VLAN 210 of fabric leaf-eth belongs to another tenant too"
    (told,) = _warnings(_apply(cluster, _partition("leaf-eth", TAKEN, "acme")))
    assert told == (
        "spec.tenant: policies of other tenants name VLAN 210 of fabric leaf-eth: rival; their "
        "pods are refused"
    )
    cluster.wait_for("team-a has its number back", lambda: not _refusal(cluster, "team-a", "roce"))
    assert "PartitionConflict" in _refusal(cluster, "rival", "roce")
