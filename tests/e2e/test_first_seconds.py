"""The first ten seconds: whatever comes first, pods end equipped, none wrong, none lost."""

import http
import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.harness import sets, tenants
from tests.harness.api import MERGE_PATCH
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
BY_KUBECTL = 100
"""Of the sets at once; the others by plain requests, which reach the API server faster."""
TRIES = 20
MOST_TRIES = 15
LATE_SETS = 10
"""Of the sets at once; a part of each comes only after its pods were refused."""
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


class _Author:
    """Writes a set, some by kubectl and some by plain requests, in an order of its own.

    Attributes:
        wanted: The set.
        missing: The part that is held back at first; empty for most.
    """

    def __init__(self, cluster: ControlPlane, index: int) -> None:
        self._cluster = cluster
        self._by_kubectl = index % (SETS // BY_KUBECTL) == 0
        dice = _dice(index)
        rails = dice.choice([1, 2, 8])
        self.wanted = TenantSet(f"once-{index:03}", 1000 + index, dice.choice(MODES), rails)
        self._order = dice.choice(ORDERS)
        is_late = index % (SETS // LATE_SETS) == 0
        self.missing = dice.choice(PARTS[:-1]) if is_late else ""
        self._shuffle = dice.shuffle

    def write(self) -> None:
        """Write all but what is held back."""
        order = [part for part in self._order if part != self.missing]
        if self._by_kubectl and not self.missing:
            self._cluster.kubectl("apply", "-f", "-", stdin=self.wanted.file(order))
            return
        objects = self.wanted.objects(order)
        self._shuffle(objects)
        self._create(self.wanted.namespace, *objects)

    def complete(self) -> None:
        """Write what was held back."""
        self._create(*self.wanted.objects([self.missing]))

    def _create(self, *objects: Document) -> None:
        for one in objects:
            self._cluster.request("POST", sets.collection(one), one)


def test_two_hundred_sets_at_once_end_equipped(cluster: ControlPlane, served: Webhook) -> None:
    """Of each set every object in any order; who is early waits, or is told to try again."""
    authors = [_Author(cluster, index) for index in range(SETS)]
    wanted = [author.wanted for author in authors]
    late = [author for author in authors if author.missing]
    names = {author.wanted.name for author in late}

    def refused() -> set[str]:
        found = _decisions(served, wanted)
        return {line["namespace"] for line in found if line["verdict"] == "Denied"}

    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(_Author.write, authors))
        cluster.wait_for("who lacks something is refused", lambda: names <= refused())
        list(writers.map(_Author.complete, late))
    _assert_equipped(cluster, wanted)
    verdicts = _assert_none_wrong(served, wanted)
    assert verdicts["Patched"] == SETS
    assert verdicts["Denied"] >= len(late)
    assert '"level":"error"' not in served.log()


# ------------------------------------------------------ a policy just before its pod


def _prepare(cluster: ControlPlane, name: str) -> TenantSet:
    """Return a tenant that has all, and whose policy was in use."""
    one = TenantSet(name, 400)
    cluster.add_namespace(one.name)
    for document in [one.network, *one.attachments, one.policy]:
        cluster.request("POST", sets.collection(document), document)
    _await_outcome(cluster, one, equipped=True)
    return one


def _outcome(cluster: ControlPlane, one: TenantSet, *, dry_run: bool) -> bool:
    """Create a pod once, as a user does, and tell whether it is equipped."""
    pod = tenants.pod("first", {NETWORK: one.name})
    status, answer = tenants.post(cluster, one.name, pod, user="admin", dry_run=dry_run)
    return status == http.HTTPStatus.CREATED and bool(tenants.selections(answer))


def _await_outcome(cluster: ControlPlane, one: TenantSet, *, equipped: bool) -> None:
    """Return when a dry run, which never looks twice, has an outcome."""
    cluster.wait_for(
        f"{one.name}: equipped is {equipped}",
        lambda: _outcome(cluster, one, dry_run=True) is equipped,
    )


def test_a_grant_just_before_its_pod_is_in_time(cluster: ControlPlane, served: Webhook) -> None:
    """A policy that is there is changed to grant the network, and the pod comes at once.

    Most, not all: a machine that is busy may need more than the quarter of a second of a look.
    """
    assert served.is_running
    in_time = 0
    for index in range(TRIES):
        one = _prepare(cluster, f"grant-{index:02}")
        path = tenants.policy_path(one.name)
        without: Document = {"spec": {"networks": []}}
        cluster.request("PATCH", path, without, content_type=MERGE_PATCH)
        _await_outcome(cluster, one, equipped=False)
        changed = {"spec": one.policy["spec"]}
        cluster.request("PATCH", path, changed, content_type=MERGE_PATCH)
        in_time += _outcome(cluster, one, dry_run=False)
    assert in_time >= MOST_TRIES


def test_a_policy_just_before_its_pod_is_in_time_where_none_is_needed(
    cluster: ControlPlane, served: Webhook
) -> None:
    """With ``--missing-policy=Ignore`` a pod is not left alone because its policy is new."""
    in_time = 0
    try:
        with Webhook(cluster, "--missing-policy=Ignore") as lenient:
            lenient.register()
            for index in range(TRIES):
                one = _prepare(cluster, f"new-{index:02}")
                cluster.request("DELETE", tenants.policy_path(one.name))
                _await_outcome(cluster, one, equipped=False)
                cluster.request("POST", sets.collection(one.policy), one.policy)
                in_time += _outcome(cluster, one, dry_run=False)
            cluster.delete_pod(one.name, "first")
            cluster.request("DELETE", tenants.policy_path(one.name))
            _await_outcome(cluster, one, equipped=False)
            pod = tenants.pod("first", {NETWORK: one.name})
            status, answer = tenants.post(cluster, one.name, pod, user="admin")
    finally:
        served.register()
    assert in_time >= MOST_TRIES
    assert (status, tenants.selections(answer)) == (http.HTTPStatus.CREATED, [])


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
