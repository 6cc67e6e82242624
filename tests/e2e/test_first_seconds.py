"""The first ten seconds: whatever comes first, pods end equipped, none wrong, none lost."""

import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.harness import sets, tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.sets import MODES, PARTS, TenantSet
from tests.harness.tenants import NETWORK
from tests.harness.webhook import Webhook, install

SEED = 20
ORDERS = list(itertools.permutations(PARTS))
LATE_NAMESPACES = 4
"""Orders that are also tried with the namespace at the end of the file."""
SETS = 200
WRITERS = 16
BY_KUBECTL = 40
"""Of the sets at once; the others by plain requests, which reach the API server faster."""
CAPACITY = 64
"""Pods that wait at a time, at most."""
CROWD = 96
SETTLE_SECONDS = 90.0
WAITING = "rdma_webhook_pods_waiting"
TURNED_AWAY = "rdma_webhook_pods_turned_away_total"


@pytest.fixture(scope="module")
def cluster() -> Iterator[ControlPlane]:
    """A cluster of our own, with the real controllers that make pods and try again."""
    with ControlPlane(tenants={}, scheduler=False) as control_plane:
        install(control_plane)
        yield control_plane


@pytest.fixture(scope="module")
def served(cluster: ControlPlane) -> Iterator[Webhook]:
    """The webhook, installed and registered as shipped."""
    with Webhook(cluster) as webhook:
        webhook.register()
        yield webhook


def _dice(index: int) -> random.Random:
    """Return dice that fall in the same way in every run."""
    return random.Random(SEED + index)  # noqa: S311 - no secret


# ------------------------------------------------------------------ looking on


def _pods(cluster: ControlPlane) -> dict[str, list[Document]]:
    """Return the pods there are, by namespace."""
    found: dict[str, list[Document]] = {}
    for pod in cluster.request("GET", "/api/v1/pods")["items"]:
        found.setdefault(pod["metadata"]["namespace"], []).append(pod)
    return found


def _await_pods(cluster: ControlPlane, wanted: Sequence[TenantSet]) -> dict[str, list[Document]]:
    """Return all pods once each set has as many as its Deployment wants."""

    def missing() -> list[str]:
        found = _pods(cluster)
        return [one.name for one in wanted if len(found.get(one.name, ())) < one.replicas]

    def outcome() -> dict[str, list[Document]] | None:
        lacking = missing()
        if lacking:
            raise AssertionError(f"{len(lacking)} sets lack pods, {lacking[:3]} among them")
        return _pods(cluster)

    return cluster.wait_for("every Deployment has its pods", outcome, SETTLE_SECONDS)


def _assert_equipped(cluster: ControlPlane, wanted: Sequence[TenantSet]) -> None:
    """Each Deployment has its pods, and each pod is exactly what it should be."""
    found = _await_pods(cluster, wanted)
    for one in wanted:
        pods = found[one.name]
        assert len(pods) == one.replicas
        for pod in pods:
            assert tenants.essential(pod) == one.equipped(), pod["metadata"]["name"]


def _decisions(webhook: Webhook, wanted: Sequence[TenantSet]) -> list[Document]:
    """Return what the webhook has said about pods of the sets, oldest first."""
    names = {one.name for one in wanted}
    lines = [json.loads(line) for line in webhook.log().splitlines() if '"pod":' in line]
    return [line for line in lines if line["namespace"] in names]


def _assert_none_wrong(webhook: Webhook, wanted: Sequence[TenantSet]) -> Counter[str]:
    """Every pod was patched for its one network, or told to try again; count the verdicts."""
    found = _decisions(webhook, wanted)
    for line in found:
        if line["verdict"] == "Denied":
            assert line["reason"] == "PolicyNotReady", line
        else:
            assert (line["verdict"], line["networks"]) == ("Patched", [line["namespace"]]), line
    return Counter(line["verdict"] for line in found)


# --------------------------------------------------------------- one file, any order


def test_one_file_in_any_order_ends_with_equipped_pods(
    cluster: ControlPlane, served: Webhook
) -> None:
    """``kubectl apply -f`` of all that a tenant needs, in each order of its parts."""
    wanted = [
        TenantSet(f"order-{index:02}", 100 + index, MODES[index % 4], 1 + index % 4, replicas=2)
        for index in range(len(ORDERS))
    ]

    def apply(one: TenantSet, order: Sequence[str]) -> None:
        said = cluster.kubectl("apply", "-f", "-", stdin=one.file(order)).stdout
        assert said.count(" created\n") == 4 + one.rails

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(apply, wanted, ORDERS))
    _assert_equipped(cluster, wanted)
    assert _assert_none_wrong(served, wanted)["Patched"] == 2 * len(wanted)


def test_a_namespace_at_the_end_of_the_file_takes_a_second_apply(
    cluster: ControlPlane, served: Webhook
) -> None:
    """What kubectl could not create it ; applied again, as GitOps does, all is well."""
    orders = _dice(0).sample(ORDERS, LATE_NAMESPACES)
    wanted = [TenantSet(f"late-{index}", 200 + index) for index in range(len(orders))]
    for one, order in zip(wanted, orders, strict=True):
        file = one.file(order, namespace_first=False)
        first = cluster.kubectl("apply", "-f", "-", stdin=file, check=False)
        assert first.returncode == 1
        assert f'namespaces "{one.name}" not found' in first.stderr
        cluster.kubectl("apply", "-f", "-", stdin=file)
    _assert_equipped(cluster, wanted)
    _assert_none_wrong(served, wanted)


# -------------------------------------------------------------- all at once


def _create_all(cluster: ControlPlane, one: TenantSet, dice: random.Random) -> None:
    """Create the objects of a set in any order, by plain requests, the namespace first."""
    objects = one.objects()
    dice.shuffle(objects)
    for document in [one.namespace, *objects]:
        cluster.request("POST", sets.collection(document), document)


def test_two_hundred_sets_at_once_end_equipped(cluster: ControlPlane, served: Webhook) -> None:
    """Of each set every object in any order, some by kubectl: who is early is told to try again."""
    dice = _dice(0)
    wanted = [
        TenantSet(f"once-{index:03}", 1000 + index, dice.choice(MODES), dice.choice([1, 2, 8]))
        for index in range(SETS)
    ]

    def write(index: int) -> None:
        one, own_dice = wanted[index], _dice(index)
        if index % (SETS // BY_KUBECTL):
            _create_all(cluster, one, own_dice)
        else:
            file = one.file(own_dice.choice(ORDERS))
            cluster.kubectl("apply", "-f", "-", stdin=file)

    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(write, range(SETS)))
    _assert_equipped(cluster, wanted)
    verdicts = _assert_none_wrong(served, wanted)
    assert verdicts["Patched"] == SETS
    assert '"level":"error"' not in served.log()


# ------------------------------------------------------------- bounds of waiting


def test_pods_that_wait_are_bounded_in_number(cluster: ControlPlane, served: Webhook) -> None:
    """A crowd in a namespace without a policy: most wait, the rest are told at once."""
    cluster.add_namespace("crowd")
    before = served.metric(TURNED_AWAY)
    most, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.is_set():
            most[0] = max(most[0], served.metric(WAITING))

    def ask(index: int) -> str:
        pod = tenants.pod(f"asking-{index}", {NETWORK: "any"})
        _, answer = tenants.post(cluster, "crowd", pod, user="admin")
        return str(answer["reason"])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with ThreadPoolExecutor(CROWD) as crowd:
            answers = set(crowd.map(ask, range(CROWD)))
    finally:
        ended.set()
        watcher.join()
    assert answers == {"PolicyNotReady"}
    assert 0 < most[0] <= CAPACITY
    assert served.metric(TURNED_AWAY) > before
    assert served.metric(WAITING) == 0


def test_a_pod_is_told_how_far_its_networks_are(cluster: ControlPlane, served: Webhook) -> None:
    """Of eight attachments three are there; a dry run says so without waiting."""
    one = TenantSet("far", 300, rails=8)
    cluster.add_namespace(one.name)
    for document in [one.network, one.policy, *one.attachments[:3]]:
        cluster.request("POST", sets.collection(document), document)
    pod = tenants.pod("asking", {NETWORK: one.name})

    def told() -> str:
        _, answer = tenants.post(cluster, one.name, pod, user="admin", dry_run=True)
        return str(answer["message"])

    cluster.wait_for("the attachments are seen", lambda: "3 of 8" in told())
    status, answer = tenants.post(cluster, one.name, pod, user="admin")
    assert (status, answer["reason"]) == (403, "PolicyNotReady")
    assert "3 of 8 NetworkAttachmentDefinitions are there" in answer["message"]
    assert f"{one.name}/{one.attachments[3]['metadata']['name']} is not" in answer["message"]
    waited, dry = [
        [line["duration_ms"] for line in _decisions(served, [one]) if line.get("dry_run") is dry]
        for dry in (None, True)
    ]
    assert max(dry) < min(waited)
