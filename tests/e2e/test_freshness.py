"""What an admin has just written counts: for the pod in the same file, and for the next one."""

import json
import threading
from typing import Any

import pytest
import yaml

from tests.harness import tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK
from tests.harness.webhook import Webhook

NETWORKS_PATH = "/apis/rdma.io/v1alpha1/rdmanetworks"
WAITING = "rdma_webhook_pods_waiting"


def _apply(cluster: ControlPlane, *objects: Document) -> str:
    """Apply objects in one file, in this order, and return what kubectl says."""
    return cluster.apply(yaml.safe_dump_all(objects))


def _pod(namespace: str, network: str) -> Document:
    body = tenants.pod("first", {NETWORK: network})
    body["metadata"]["namespace"] = namespace
    return body


@pytest.mark.parametrize("policy_first", [True, False], ids=["policy first", "attachments first"])
def test_a_policy_just_before_its_pod_is_in_time(
    controlplane: ControlPlane, webhook: Webhook, namespace: str, *, policy_first: bool
) -> None:
    """One ``kubectl apply`` of policy, attachments and pod: the pod is equipped at once."""
    number = tenants.next_number()
    policy = tenants.policy(namespace, [tenants.grant("roce", number)])
    nads = tenants.attachments(namespace, "roce", number)
    order = [policy, *nads] if policy_first else [*nads, policy]
    said = _apply(controlplane, *order, _pod(namespace, "roce"))
    assert said.endswith("pod/first created\n")
    names = [one["name"] for one in tenants.selections(controlplane.pod(namespace, "first"))]
    assert names == [nad["metadata"]["name"] for nad in nads]
    (decision,) = webhook.decisions(namespace, "first")
    assert decision["verdict"] == "Patched"


@pytest.mark.usefixtures("webhook")
def test_a_network_just_before_its_pod_is_in_time(
    controlplane: ControlPlane, namespace: str
) -> None:
    """One ``kubectl apply`` of a new network, its grant and the pod."""
    spec = {"mode": "DeviceOnly", "rails": [{"name": "a", "resourceName": "rdma/fresh"}]}
    network = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMANetwork",
        "metadata": {"name": namespace},
        "spec": spec,
    }
    policy = tenants.policy(namespace, [{"name": namespace}])
    try:
        _apply(controlplane, network, policy, _pod(namespace, namespace))
        stored = controlplane.pod(namespace, "first")
    finally:
        controlplane.api("DELETE", tenants.policy_path(namespace))
        controlplane.wait_for(
            "the network can go",
            lambda: controlplane.api("DELETE", f"{NETWORKS_PATH}/{namespace}")[0] == 200,
        )
    assert tenants.status(stored)["resources"] == {"rdma/fresh": 1}


def test_attachments_that_come_after_the_policy_are_waited_for(
    controlplane: ControlPlane, webhook: Webhook, namespace: str
) -> None:
    """A pod that is early by less than a second waits for its NADs in place of being refused."""
    number = tenants.next_number()
    tenants.create(controlplane, tenants.policy(namespace, [tenants.grant("roce", number)]))
    answers: list[tuple[int, Any]] = []
    body = _pod(namespace, "roce")
    creation = threading.Thread(
        target=lambda: answers.append(tenants.post(controlplane, namespace, body, user="admin"))
    )
    creation.start()
    try:
        controlplane.wait_for("a pod waits", lambda: webhook.metric(WAITING) == 1)
        tenants.create(controlplane, *tenants.attachments(namespace, "roce", number))
    finally:
        creation.join()
    ((status, answer),) = answers
    assert status == 201, answer
    assert len(tenants.selections(answer)) == 2
    assert webhook.metric(WAITING) == 0


@pytest.mark.usefixtures("webhook")
def test_a_changed_policy_takes_effect(controlplane: ControlPlane, namespace: str) -> None:
    """Another number is another attachment, a grant taken away is a refusal; nothing restarts."""
    numbers = [tenants.next_number(), tenants.next_number()]
    for number in numbers:
        tenants.create(controlplane, *tenants.attachments(namespace, "roce", number))

    def outcome() -> str:
        status, answer = tenants.post(
            controlplane, namespace, _pod(namespace, "roce"), user="admin", dry_run=True
        )
        return str(tenants.selections(answer)[0]["name"] if status == 201 else answer["reason"])

    def expect(wanted: str) -> None:
        controlplane.wait_for(f"{wanted} in {namespace}", lambda: outcome() == wanted)

    for number in numbers:
        policy = tenants.policy(namespace, [tenants.grant("roce", number)])
        controlplane.apply(json.dumps(policy), server_side=True)
        expect(f"rdma-roce-r0-v{number:04d}")
    controlplane.apply(json.dumps(tenants.policy(namespace, [])), server_side=True)
    expect("NetworkNotGranted")
    controlplane.request("DELETE", tenants.policy_path(namespace))
    expect("PolicyNotReady")


@pytest.mark.usefixtures("webhook")
def test_a_changed_attachment_takes_effect(controlplane: ControlPlane, namespace: str) -> None:
    """A NAD edited to another VLAN is refused with both numbers, until it is right again."""
    number = tenants.next_number()
    (nad, other) = tenants.attachments(namespace, "roce", number)
    tenants.create(
        controlplane, nad, other, tenants.policy(namespace, [tenants.grant("roce", number)])
    )
    body = _pod(namespace, "roce")
    plural = "network-attachment-definitions"
    path = f"/apis/k8s.cni.cncf.io/v1/namespaces/{namespace}/{plural}/{nad['metadata']['name']}"

    def outcome() -> str:
        status, answer = tenants.post(controlplane, namespace, body, user="admin", dry_run=True)
        return "created" if status == 201 else str(answer["message"])

    controlplane.wait_for("the tenant is known", lambda: outcome() == "created")
    stored = controlplane.request("GET", path)
    config = tenants.config(stored)
    config["master"] = "ens1f0np0.299"
    stored = controlplane.request("PUT", path, tenants.with_config(stored, config))
    said = controlplane.wait_for(
        "the other VLAN is refused", lambda: text if (text := outcome()) != "created" else None
    )
    assert f"master is ens1f0np0.299, but the policy says ens1f0np0.{number}" in said
    controlplane.request("PUT", path, tenants.with_config(stored, tenants.config(nad)))
    controlplane.wait_for("it is right again", lambda: outcome() == "created")
