"""The cache on a real API server: what it misses, what it hears late, and what it says meanwhile.

The API server is our own, since it is stopped and its data are compacted; between it and us is a
proxy that holds or breaks connections. ``Mirror`` is the cache alone, so that it can be compared
with the API server object by object; ``Webhook`` is the whole program.
"""

import contextlib
import http
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from tests.harness import tenants
from tests.harness.api import MERGE_PATCH, ApiClient
from tests.harness.calls import Document, patched
from tests.harness.controlplane import ControlPlane
from tests.harness.load import Load
from tests.harness.mirror import Mirror
from tests.harness.proxy import Proxy
from tests.harness.tenants import NETWORK
from tests.harness.webhook import (
    ACCOUNT,
    NAMESPACE,
    Webhook,
    apply_examples,
    install,
    shipped,
)
from webhook.apiserver.kinds import BY_NAME, KINDS
from webhook.watch.cache import BATCH_SECONDS

NAD = BY_NAME["NetworkAttachmentDefinition"]
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
FAILURES = "rdma_webhook_cache_failures_total"
STALENESS = "rdma_webhook_cache_staleness_seconds"
BOUND_SECONDS = 4
"""The staleness bound of the webhook under test; something of each kind changes more often."""
ASKING = tenants.pod("asking", {NETWORK: "roce"}, {"nvidia.com/gpu": "1"})
TOUCHED = {
    "Namespace": "/api/v1/namespaces/team-b",
    "RDMANetwork": "/apis/rdma.io/v1alpha1/rdmanetworks/roce",
    "RDMAPolicy": tenants.policy_path("team-b"),
    "RDMAPartition": "/apis/rdma.io/v1alpha1/rdmapartitions/touched.vlan.4000",
    "NetworkAttachmentDefinition": f"{NAD.root}/namespaces/team-b/{NAD.plural}/touched",
}
"""An object of each kind that a test may touch, so that no kind is quiet."""
PARTITION = {
    "apiVersion": "rdma.io/v1alpha1",
    "kind": "RDMAPartition",
    "metadata": {"name": "touched.vlan.4000"},
    "spec": {
        "fabric": "touched",
        "type": "VLAN",
        "number": 4000,
        "tenant": "touched",
        "partition": "main",
    },
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[ControlPlane]:
    """A control plane of our own with all that is shipped."""
    with ControlPlane(controllers=False, scheduler=False) as control_plane:
        install(control_plane)
        apply_examples(control_plane)
        control_plane.apply(yaml.safe_dump_all([PARTITION, _nad("team-b", "touched")]))
        yield control_plane


@pytest.fixture
def proxy(cluster: ControlPlane) -> Iterator[Proxy]:
    """The network between the API server and us."""
    with Proxy(cluster.port) as found:
        yield found


@pytest.fixture
def way(cluster: ControlPlane, proxy: Proxy, tmp_path: Path) -> Path:
    """A kubeconfig of the webhook's account that leads through the proxy."""
    path = tmp_path / "through-proxy.kubeconfig"
    _write_way(path, cluster.service_account_kubeconfig(NAMESPACE, ACCOUNT), cluster, proxy)
    return path


@pytest.fixture
def mirror(way: Path) -> Iterator[Mirror]:
    """The cache alone."""
    with Mirror(way) as found:
        yield found


@pytest.fixture
def pulse(cluster: ControlPlane) -> Iterator[Load]:
    """Something of every kind changes all the time, so that staleness is the network's fault."""
    with Load(lambda: _touch(cluster), threads=1) as found:
        found.wait_for_more(1)
        yield found


@pytest.fixture
def served(cluster: ControlPlane, way: Path, pulse: Load) -> Iterator[Webhook]:
    """The program, ready, with a small staleness bound."""
    assert pulse.failures == []
    flags = [f"--kubeconfig={way}", f"--max-staleness={BOUND_SECONDS}s"]
    with Webhook(cluster, *flags) as webhook:
        yield webhook


def _write_way(path: Path, direct: Path, cluster: ControlPlane, proxy: Proxy) -> None:
    path.write_text(direct.read_text().replace(f":{cluster.port}", f":{proxy.port}"))


def _touch(cluster: ControlPlane) -> None:
    """Change an object of each kind; the API server may be away."""
    body = {"metadata": {"annotations": {"example.com/touched": str(time.monotonic_ns())}}}
    for path in TOUCHED.values():
        cluster.request("PATCH", path, body, content_type=MERGE_PATCH)
    time.sleep(0.1)


def _nad(namespace: str, name: str, **config: object) -> Document:
    """A NAD that is none of our business, and small."""
    return {
        "apiVersion": NAD.api_version,
        "kind": NAD.name,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"config": json.dumps({"name": name, "type": "bridge", **config})},
    }


def _nads(mirror: Mirror, namespace: str) -> set[str]:
    return set(mirror.cache.current().shard(namespace).nads)


def _create_all(cluster: ControlPlane, objects: Sequence[Document]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: tenants.create(cluster, one), objects))


def _delete(cluster: ControlPlane, namespace: str, name: str) -> None:
    cluster.request("DELETE", f"{NAD.root}/namespaces/{namespace}/{NAD.plural}/{name}")


def _is_equal(mirror: Mirror, cluster: ControlPlane) -> bool:
    found = mirror.differences(cluster)
    assert not found, found
    return True


# ------------------------------------------------------------------ what was missed


def test_after_a_compaction_nothing_is_lost_and_nothing_kept(
    cluster: ControlPlane, proxy: Proxy, mirror: Mirror
) -> None:
    """Cut off while objects come and go and etcd forgets them: a real 410, then all of it."""
    cluster.add_namespace("compacted")
    _create_all(cluster, [_nad("compacted", name) for name in ("stays", "changes", "goes")])
    cluster.wait_for("three are known", lambda: len(_nads(mirror, "compacted")) == 3)
    proxy.hold()
    proxy.cut()
    seen = len(mirror.snapshots)
    _delete(cluster, "compacted", "goes")
    path = f"{NAD.root}/namespaces/compacted/{NAD.plural}/changes"
    changed = {"spec": {"config": json.dumps({"name": "changes", "type": "macvlan"})}}
    cluster.request("PATCH", path, changed, content_type=MERGE_PATCH)
    _create_all(cluster, [_nad("compacted", "comes")])
    cluster.compact_etcd()
    cluster.restart_apiserver()
    assert _nads(mirror, "compacted") == {"stays", "changes", "goes"}
    proxy.release()
    cluster.wait_for("all is as it is there", lambda: _is_equal(mirror, cluster))
    assert _nads(mirror, "compacted") == {"stays", "changes", "comes"}
    assert mirror.tally(NAD).failures["expired"] >= 1
    assert mirror.tally(NAD).lists["expired", "stream"] >= 1
    (step,) = {
        frozenset(one.shard("compacted").nads)
        for one in mirror.snapshots[seen:]
        if set(one.shard("compacted").nads) != {"stays", "changes", "goes"}
    }
    assert step == {"stays", "changes", "comes"}, "in one step"


def test_a_burst_is_few_snapshots(cluster: ControlPlane, way: Path, mirror: Mirror) -> None:
    """1,100 NADs at once: all are known, by few snapshots, and so are they to who comes later."""
    cluster.add_namespace("burst")
    before, started = mirror.cache.swaps, time.monotonic()
    _create_all(cluster, [_nad("burst", f"n{number}") for number in range(1100)])
    cluster.wait_for("all are known", lambda: len(_nads(mirror, "burst")) == 1100)
    moments = (time.monotonic() - started) / BATCH_SECONDS
    assert mirror.cache.swaps - before <= min(moments + 2, 550)
    assert mirror.differences(cluster) == []
    with Mirror(way) as late:
        assert late.differences(cluster) == []
        assert dict(late.tally(NAD).lists) == {("start", "stream"): 1}


# -------------------------------------------------------------- what is heard late


def test_a_connection_that_is_half_open_makes_us_stale_and_then_not_ready(
    cluster: ControlPlane, proxy: Proxy, served: Webhook
) -> None:
    """Nothing comes, nothing is closed: pods are judged by what is known, probes name the kind."""
    assert served.get("/readyz") == (200, "ready\n")
    proxy.hold()
    said = cluster.wait_for("not ready", lambda: _stale(served))
    for kind in KINDS:
        assert any(one.startswith(f"{kind.name}: no event or bookmark for ") for one in said)
        assert served.metric(STALENESS, kind=kind.name) > BOUND_SECONDS
        assert served.metric("rdma_webhook_cache_synced", kind=kind.name) == 1
    assert len(tenants.selections(patched(ASKING, served.review(ASKING, "team-a")))) == 2
    proxy.release()
    cluster.wait_for("ready again", lambda: served.get("/readyz") == (200, "ready\n"))
    assert served.metric("rdma_webhook_cache_lists_total") == len(KINDS), "no list was needed"


def _stale(webhook: Webhook) -> list[str] | None:
    """What readiness says once every kind is stale."""
    status, text = webhook.get("/readyz")
    lines = text.splitlines()
    return lines if status == 503 and len(lines) == len(KINDS) else None


def test_rights_that_are_taken_away_are_named(
    cluster: ControlPlane, proxy: Proxy, served: Webhook
) -> None:
    """Forbidden while running: what is known is used, then readiness names verb and resource."""
    (binding,) = [one for one in shipped(cluster) if one["kind"] == "ClusterRoleBinding"]
    cluster.request("DELETE", f"{BINDINGS}/{binding['metadata']['name']}")
    try:
        proxy.cut()
        said = cluster.wait_for("not ready", lambda: _stale(served))
    finally:
        cluster.request("POST", BINDINGS, binding)
    for kind, sentence in zip(KINDS, said, strict=True):
        assert f"forbidden: our role needs list and watch on {kind.resource};" in sentence
        assert served.metric(FAILURES, kind=kind.name, reason="forbidden") >= 1
    assert len(tenants.selections(patched(ASKING, served.review(ASKING, "team-a")))) == 2
    cluster.wait_for("ready again", lambda: served.get("/readyz") == (200, "ready\n"))


def test_a_token_that_has_ended_is_replaced_without_a_restart(
    cluster: ControlPlane, proxy: Proxy, tmp_path: Path
) -> None:
    """401, then another token in the same file: the watch goes on, and nothing was forgotten."""
    way = tmp_path / "bound.kubeconfig"
    token = _bound_token(cluster, "bound")
    text = cluster.service_account_kubeconfig(NAMESPACE, ACCOUNT).read_text()
    account = cluster.token(f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}")
    text = text.replace(f":{cluster.port}", f":{proxy.port}")
    way.write_text(text.replace(account, token))
    with Mirror(way) as mirror:
        assert mirror.differences(cluster) == []
        cluster.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/secrets/bound")
        cluster.wait_for("the token has ended", lambda: _is_refused(cluster, token))
        proxy.cut()
        tallies = [mirror.tally(kind) for kind in KINDS]
        cluster.wait_for("401", lambda: all(one.failures["unauthorized"] for one in tallies))
        assert mirror.cache.missing() == []
        cluster.add_namespace("while-unauthorized")
        way.write_text(text)
        cluster.wait_for("all is as it is there", lambda: _is_equal(mirror, cluster))
        assert sum(mirror.tally(NAD).lists.values()) == 1


def _bound_token(cluster: ControlPlane, secret: str) -> str:
    """A token of our account that lives as long as a Secret."""
    space = f"/api/v1/namespaces/{NAMESPACE}"
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret}}
    made = cluster.request("POST", f"{space}/secrets", body)
    reference = {"apiVersion": "v1", "kind": "Secret", "name": secret}
    spec = {"boundObjectRef": {**reference, "uid": made["metadata"]["uid"]}}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    answer = cluster.request("POST", f"{space}/serviceaccounts/{ACCOUNT}/token", request)
    return str(answer["status"]["token"])


def _is_refused(cluster: ControlPlane, token: str) -> bool:
    """Tell whether the API server no longer takes a token; it remembers an answer for seconds."""
    client = ApiClient(cluster.port, cluster.ca_file)
    status, _ = client.request("GET", "/api/v1/namespaces?limit=1", token=token)
    client.close()
    return status == http.HTTPStatus.UNAUTHORIZED


# ------------------------------------------------------------------------ restarts


def test_a_restart_under_load_and_edits_decides_nothing_wrong(
    cluster: ControlPlane, way: Path, mirror: Mirror
) -> None:
    """Pods come and their policy is edited while the API server goes and returns: all equipped."""
    number = tenants.next_number()
    cluster.add_tenant("alice", "edited")
    policy = tenants.policy("edited", [tenants.grant("roce", number)])
    tenants.create(cluster, *tenants.attachments("edited", "roce", number), policy)
    names = iter(range(10**6))
    with Webhook(cluster, f"--kubeconfig={way}") as served:
        served.register()
        with (
            Load(lambda: _wrongly_refused(cluster, f"p{next(names)}"), threads=2) as creations,
            Load(lambda: _edit(cluster), threads=1) as edits,
        ):
            creations.wait_for_more()
            cluster.restart_apiserver()
            creations.wait_for_more()
            edits.wait_for_more(3)
        assert creations.failures == []
        pods = cluster.request("GET", "/api/v1/namespaces/edited/pods")["items"]
        assert len(pods) > 40
        assert {len(tenants.selections(pod)) for pod in pods} == {2}
        cluster.wait_for("all is as it is there", lambda: _is_equal(mirror, cluster))
        for kind in KINDS:
            known = len(cluster.request("GET", kind.path())["items"])
            metric = "rdma_webhook_cache_objects"
            assert served.metric(metric, kind=kind.name) == known
    cluster.api(
        "DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/rdma-webhook"
    )


def _wrongly_refused(cluster: ControlPlane, name: str) -> str | None:
    """What our webhook had against a pod; an API server that is away is no fault of ours."""
    body = {**ASKING, "metadata": {**ASKING["metadata"], "name": name}}
    try:
        status, answer = tenants.post(cluster, "edited", body, user="alice")
    except OSError:
        time.sleep(0.05)
        return None
    return str(answer) if status != 201 and "rdma.io" in str(answer) else None


def _edit(cluster: ControlPlane) -> None:
    env = [{"name": "EDIT", "value": str(time.monotonic_ns())}]
    body = {"spec": {"podDefaults": {"env": env}}}
    with contextlib.suppress(OSError):
        cluster.api("PATCH", tenants.policy_path("edited"), body, content_type=MERGE_PATCH)
    time.sleep(0.05)


# --------------------------------------------------------------------- large lists


def test_an_api_server_that_cannot_stream_is_read_by_pages() -> None:
    """More than a thousand objects in pages of 500, and the watch behind them."""
    flags = ["--feature-gates=WatchList=false"]
    with ControlPlane(controllers=False, scheduler=False, apiserver_flags=flags) as old:
        old.add_nad_crd()
        old.add_namespace("large")
        _create_all(old, [_nad("large", f"n{number}") for number in range(1100)])
        with Mirror(old.kubeconfig(), [NAD, BY_NAME["Namespace"]]) as mirror:
            assert len(_nads(mirror, "large")) == 1100
            assert mirror.differences(old) == []
            assert dict(mirror.tally(NAD).lists) == {("start", "pages"): 1}
            assert mirror.tally(NAD).failures["refused"] == 1
            _delete(old, "large", "n7")
            old.wait_for("the deletion is seen", lambda: "n7" not in _nads(mirror, "large"))
