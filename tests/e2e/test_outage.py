"""The webhook, the API server or the rights go away: who waits, who is refused, what comes back."""

import base64
import contextlib
import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from certs.authority import make_authority
from tests.harness import tenants
from tests.harness.calls import Document, patched
from tests.harness.controlplane import ControlPlane
from tests.harness.load import Load
from tests.harness.tenants import NETWORK
from tests.harness.webhook import (
    ACCOUNT,
    CONFIGURATION,
    NAMESPACE,
    Webhook,
    apply_examples,
    install,
    shipped,
)

KINDS = (
    "rdmanetworks.rdma.io",
    "rdmapolicies.rdma.io",
    "rdmapartitions.rdma.io",
    "network-attachment-definitions.k8s.cni.cncf.io",
    "namespaces",
)
"""What the webhook reads."""
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
DRAIN_SECONDS = 3
ASKING = tenants.pod("asking", {NETWORK: "roce"}, {"nvidia.com/gpu": "1"})
PLAIN = tenants.pod("plain", {"example.com/other": "x"})

AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
  - level: Metadata
    resources: [{group: "", resources: [pods]}]
    verbs: [create]
  - level: None
"""


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the file that the API server writes its audit log to, for created pods."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "policy.yaml").write_text(AUDIT_POLICY)
    return folder / "audit.log"


@pytest.fixture(scope="module")
def cluster(audit_log: Path) -> Iterator[ControlPlane]:
    """An API server of our own, which these tests stop and start, with all that is shipped."""
    flags = [
        f"--audit-log-path={audit_log}",
        f"--audit-policy-file={audit_log.with_name('policy.yaml')}",
    ]
    with ControlPlane(controllers=False, scheduler=False, apiserver_flags=flags) as control_plane:
        install(control_plane)
        apply_examples(control_plane)
        yield control_plane


@pytest.fixture
def served(cluster: ControlPlane) -> Iterator[Webhook]:
    """A fresh webhook, ready and registered."""
    with Webhook(cluster, f"--drain-seconds={DRAIN_SECONDS}") as webhook:
        webhook.register()
        yield webhook


def _create(cluster: ControlPlane, body: Document, *, dry_run: bool = True) -> tuple[int, Any]:
    """Status code and answer of a pod that alice creates in team-a."""
    return tenants.post(cluster, "team-a", body, user="alice", dry_run=dry_run)


def _fault_of_creation(cluster: ControlPlane) -> str | None:
    """What is wrong with a pod that was created through the API server; None where nothing is."""
    status, answer = _create(cluster, ASKING)
    if status != 201:
        return f"{status}: {answer}"
    return None if len(tenants.selections(answer)) == 2 else f"not equipped: {answer}"


def _fault_of_review(webhook: Webhook) -> str | None:
    """What is wrong with a review that was sent straight to the webhook."""
    equipped = patched(ASKING, webhook.review(ASKING, "team-a"))
    return None if len(tenants.selections(equipped)) == 2 else f"not equipped: {equipped}"


# ---------------------------------------------------------------- our own outage


def test_an_outage_is_a_wait_for_who_asks_and_nothing_to_others(
    cluster: ControlPlane, served: Webhook
) -> None:
    """While we are down pods with the annotation are refused, others are created; then all are."""
    served.kill()
    create = ["create", "-n", "team-a", "-f", "-"]
    shown = cluster.kubectl(*create, user="alice", stdin=json.dumps(ASKING), check=False)
    assert shown.returncode == 1
    assert 'failed calling webhook "pods.rdma.io"' in shown.stderr
    shown = cluster.kubectl(*create, user="alice", stdin=json.dumps(PLAIN))
    assert shown.stdout == "pod/plain created\n"
    cluster.delete_pod("team-a", "plain")
    served.start()
    served.wait_until_ready()
    served.register()
    assert _fault_of_creation(cluster) is None


def test_pods_come_and_go_in_other_ways_during_an_outage(
    cluster: ControlPlane, served: Webhook
) -> None:
    """An equipped pod is labelled, finalized and deleted while nobody answers."""
    body = {**ASKING, "metadata": {**ASKING["metadata"], "finalizers": ["example.com/hold"]}}
    assert _create(cluster, body, dry_run=False)[0] == 201
    served.kill()
    for arguments in (
        ["label", "pod", "asking", "a=b"],
        ["delete", "pod", "asking", "--wait=false", "--grace-period=0", "--force"],
        ["patch", "pod", "asking", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'],
    ):
        cluster.kubectl(*arguments, "-n", "team-a", user="alice")
    cluster.wait_until_gone("/api/v1/namespaces/team-a/pods/asking")


def test_a_rolling_restart_under_load_loses_no_pod(cluster: ControlPlane, served: Webhook) -> None:
    """SIGTERM while pods are created: all are equipped, the old process ends with exit code 0."""
    with (
        Webhook(cluster) as successor,
        Load(lambda: _fault_of_creation(cluster)) as load,
    ):
        load.wait_for_more()
        before = served.calls()
        served.terminate()
        successor.register()
        load.wait_for_more()
        assert served.wait() == 0
        load.wait_for_more()
        assert before > 40
        assert successor.calls() > 40
    assert load.failures == []


def test_who_is_connected_is_answered_until_the_end(cluster: ControlPlane, served: Webhook) -> None:
    """After SIGTERM a kept connection gets its answer, and is told to be closed; then exit 0."""
    connection = http.client.HTTPSConnection(
        "127.0.0.1", served.port, timeout=20, context=served.tls()
    )
    with contextlib.closing(connection):
        said = []
        for is_first in (True, False):
            connection.request("POST", "/mutate", b"{}", {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            said.append((response.status, response.getheader("Connection")))
            if is_first:
                served.terminate()
                cluster.wait_for("draining", lambda: served.get("/readyz")[0] == 503)
                assert "stopping" in served.get("/readyz")[1]
                assert served.get("/healthz")[0] == 200
    assert said == [(400, None), (400, "close")]
    served.terminate()
    assert served.wait() == 0, "a second signal ends the drain, and is no failure"
    assert "Traceback" not in served.log()


def test_a_pod_that_waits_when_we_stop_still_gets_its_answer(
    cluster: ControlPlane, served: Webhook
) -> None:
    """SIGTERM while a pod waits for its policy: it hears the reason, not a broken connection."""
    answers: list[tuple[int, Any]] = []
    creation = threading.Thread(
        target=lambda: answers.append(tenants.post(cluster, "default", ASKING, user="admin"))
    )
    creation.start()
    try:
        cluster.wait_for("a pod waits", lambda: served.metric("rdma_webhook_pods_waiting") == 1)
        served.terminate()
    finally:
        creation.join()
    ((status, answer),) = answers
    assert (status, answer["reason"]) == (403, "PolicyNotReady")
    served.terminate()
    assert served.wait() == 0


# -------------------------------------------------------------------- audit


def test_the_audit_log_says_what_was_decided(
    cluster: ControlPlane, served: Webhook, audit_log: Path
) -> None:
    """Each decision is in the API server's audit log: who got which network by which policy."""
    assert served.is_running
    for name, network in (("audited", "roce"), ("denied", "nowhere")):
        _create(cluster, tenants.pod(name, {NETWORK: network}))
    said = cluster.wait_for("two lines", lambda: _audited(audit_log, "audited", "denied"))
    prefix = "pods.rdma.io/"
    granted, denied = (
        {key.removeprefix(prefix): one[key] for key in one if key.startswith(prefix)}
        for one in said
    )
    assert granted == {
        "decision": "equipped",
        "network": "roce",
        "partition": "main",
        "policy": "team-a/default",
        "policy-generation": "1",
    }
    assert denied == {"decision": "denied: NetworkNotGranted"}


def _audited(log: Path, *names: str) -> list[dict[str, str]] | None:
    """The annotations of the audit events of created pods, once all are there."""
    found = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        found[event["objectRef"].get("name")] = event.get("annotations", {})
    return [found[name] for name in names] if set(names) <= set(found) else None


# -------------------------------------------------------------------- trust


def test_the_api_server_verifies_the_ca_that_was_written(
    cluster: ControlPlane, served: Webhook
) -> None:
    """``--ca-file`` is the caBundle: with it calls succeed, with any other authority none does."""
    webhook = cluster.get_json(CONFIGURATION, "rdma-webhook")["webhooks"][0]
    bundle = webhook["clientConfig"]["caBundle"]
    assert base64.b64decode(bundle) == served.ca_file.read_bytes()
    assert _fault_of_creation(cluster) is None
    other = served.registration()
    authority = make_authority("rdma-webhook", datetime.now(UTC)).chain
    other["webhooks"][0]["clientConfig"]["caBundle"] = base64.b64encode(authority).decode()
    cluster.apply(json.dumps(other), server_side=True)
    answer = cluster.wait_for("the other authority is used", lambda: _untrusted(cluster))
    assert "x509: certificate signed by unknown authority" in answer
    assert _create(cluster, PLAIN)[0] == 201
    served.register()
    assert _fault_of_creation(cluster) is None


def _untrusted(cluster: ControlPlane) -> str | None:
    status, answer = _create(cluster, ASKING)
    return str(answer["message"]) if status == 500 else None


def test_who_does_not_trust_the_ca_gets_no_answer(cluster: ControlPlane, served: Webhook) -> None:
    """The system's authorities do not vouch for us, and those of the API server do not either."""
    for context in (
        ssl.create_default_context(),
        ssl.create_default_context(cafile=str(cluster.ca_file)),
    ):
        connection = http.client.HTTPSConnection("127.0.0.1", served.port, context=context)
        with contextlib.closing(connection), pytest.raises(ssl.SSLCertVerificationError):
            connection.request("POST", "/mutate", b"{}")


# ---------------------------------------------------------------- API server


def test_a_restarted_api_server_is_followed_again(cluster: ControlPlane, served: Webhook) -> None:
    """Reviews are answered all the while; what changes afterwards is seen; no restart of ours."""
    with Load(lambda: _fault_of_review(served)) as load:
        load.wait_for_more()
        cluster.stop_apiserver()
        load.wait_for_more()
        assert served.get("/readyz") == (200, "ready\n")
        cluster.start_apiserver()
        load.wait_for_more()
        namespace, number = "after-restart", tenants.next_number()
        cluster.add_tenant("alice", namespace)
        tenants.create(
            cluster,
            *tenants.attachments(namespace, "roce", number),
            tenants.policy(namespace, [tenants.grant("roce", number)]),
        )
        cluster.wait_for(
            "what was made after the restart is known",
            lambda: tenants.post(cluster, namespace, ASKING, user="alice", dry_run=True)[0] == 201,
            timeout=60,
        )
    assert load.failures == []
    assert _fault_of_creation(cluster) is None
    assert served.get("/readyz") == (200, "ready\n")


# --------------------------------------------------------------------- rights


def test_missing_rights_are_named(cluster: ControlPlane) -> None:
    """Without its role the webhook says which verbs on which resources; with it, it is ready."""
    (binding,) = [one for one in shipped(cluster) if one["kind"] == "ClusterRoleBinding"]
    cluster.service_account_kubeconfig(NAMESPACE, ACCOUNT)
    account = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    networks = "/apis/rdma.io/v1alpha1/rdmanetworks"
    webhook = Webhook(cluster)
    with contextlib.ExitStack() as stack:
        stack.callback(webhook.stop)
        cluster.request("DELETE", f"{BINDINGS}/{binding['metadata']['name']}")
        try:
            cluster.wait_for(
                "no rights", lambda: cluster.api("GET", networks, user=account)[0] == 403
            )
            webhook.start()
            sentences = cluster.wait_for("all are forbidden", lambda: _all_forbidden(webhook))
        finally:
            cluster.request("POST", BINDINGS, binding)
        for kind, sentence in zip(KINDS, sentences, strict=True):
            resource = kind.partition(".")[0]
            assert f"forbidden: our role needs list and watch on {kind};" in sentence
            assert f'cannot watch resource "{resource}"' in sentence
            assert "{" not in sentence, "a sentence for people, no JSON"
        assert webhook.get("/healthz") == (200, "ok\n")
        webhook.wait_until_ready()
        assert "Traceback" not in webhook.log()


def _all_forbidden(webhook: Webhook) -> list[str] | None:
    """What is missing to be ready, a sentence a kind, once all of them were refused."""
    status, text = webhook.get("/readyz")
    sentences = text.splitlines()
    is_all = len(sentences) == len(KINDS) and all("forbidden" in one for one in sentences)
    return sentences if status == 503 and is_all else None
