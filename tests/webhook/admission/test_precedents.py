"""Rulings on pods that were equal in all that a ruling depends on."""

import json
from base64 import b64decode
from typing import Any

import pytest

from policies.snapshot import Snapshot
from tests.harness.cluster import network, policy, rail, snapshot
from tests.harness.pods import container, pod, review
from webhook.admission import precedents
from webhook.admission.answer import Answer
from webhook.admission.handle import handle
from webhook.admission.precedents import look
from webhook.admission.review import decode
from webhook.admission.ruling import rule
from webhook.admission.verdict import Unchanged

CLUSTER = (network("ib", "DeviceOnly", rail("r0", "rdma/ib")), policy("ib"))
RULING = rule(Unchanged())


def token(name: str) -> dict[str, Any]:
    """Return a pod whose token volume has one random name."""
    mount = {"name": name, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    found = pod("ib", container(volumeMounts=[mount]))
    found["spec"]["volumes"] = [{"name": name, "projected": {}}]
    return found


def page(cluster: Snapshot) -> dict[Any, Any]:
    """Return the rulings that are kept."""
    return cluster.notes.page(precedents.__name__)


def answered(one: dict[str, Any], cluster: Any, **request: Any) -> Answer:  # noqa: ANN401
    """Return the answer to a pod."""
    found = handle(review(one, **request), cluster)
    assert isinstance(found, Answer)
    return found


def test_the_second_pod_of_a_job_gets_the_first_ones_ruling() -> None:
    """Name, token and uid differ; patch and warnings are the same."""
    cluster = snapshot(*CLUSTER)
    first, second = token("kube-api-access-aaaaa"), token("kube-api-access-bbbbb")
    second["metadata"]["name"] = "other"
    one, two = answered(first, cluster), answered(second, cluster, uid="second")
    assert len(page(cluster)) == 1
    assert [len(kept) for kept in page(cluster).values()] == [1]
    assert json.loads(one.body)["response"]["patch"] == json.loads(two.body)["response"]["patch"]
    assert (two.decision.uid, two.decision.name) == ("second", "other")
    assert two.decision.ops == one.decision.ops


DIFFERENT = [
    pytest.param({"spec": {"hostIPC": True}}, {}, id="a field of the spec"),
    pytest.param({"spec": {"priority": 1}}, {}, id="a field that no ruling reads"),
    pytest.param({"metadata": {"annotations": {"rdma.io/shm-size": "1Gi"}}}, {}, id="an option"),
    pytest.param(
        {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "x"}}}, {}, id="a selection"
    ),
    pytest.param(
        {
            "metadata": {
                "labels": {
                    "training.kubeflow.org/operator-name": "mpi-operator",
                    "training.kubeflow.org/job-role": "worker",
                }
            }
        },
        {},
        id="a role in an MPIJob",
    ),
    pytest.param({}, {"namespace": "team-z"}, id="the namespace"),
]


@pytest.mark.parametrize(("changes", "request_fields"), DIFFERENT)
def test_a_ruling_never_depends_on_who_came_before(
    changes: dict[str, Any], request_fields: dict[str, Any]
) -> None:
    """After any other pod the answer is that of a fresh snapshot."""
    other = pod("ib", container())
    for field, value in changes.items():
        for key, inner in value.items():
            held = other[field].get(key)
            other[field][key] = {**held, **inner} if isinstance(held, dict) else inner
    warm, body = snapshot(*CLUSTER), review(other, **request_fields)
    handle(review(pod("ib", container())), warm)
    assert handle(body, warm) == handle(body, snapshot(*CLUSTER))


def test_an_answer_does_not_change_the_precedent() -> None:
    """The patch is checked on a copy, so that equal pods stay equal."""
    cluster = snapshot(*CLUSTER)
    one = token("kube-api-access-aaaaa")
    bodies = [answered(one, cluster).body for _ in range(3)]
    assert len(set(bodies)) == 1
    patch = json.loads(b64decode(json.loads(bodies[0])["response"]["patch"]))
    assert any(op["path"].startswith("/spec/volumes") for op in patch)


@pytest.mark.parametrize(
    "fields",
    [{"operation": "UPDATE"}, {"object": None}, {"subResource": "status"}],
)
def test_other_reviews_have_no_precedent(fields: dict[str, Any]) -> None:
    """They are answered at once, and nothing is kept of them."""
    cluster = snapshot(*CLUSTER)
    handle(review(pod("ib", container()), **fields), cluster)
    handle(review(pod(None, container())), cluster)
    assert page(cluster) == {}


def test_a_refusal_is_no_precedent() -> None:
    """Who is refused is not worth our memory."""
    cluster = snapshot(*CLUSTER)
    assert answered(pod("other", container()), cluster).decision.verdict == "Denied"
    assert page(cluster) == {}


def kept(cluster: Any, one: dict[str, Any], body: bytes = b"{}", **request: Any) -> None:  # noqa: ANN401
    """Keep a ruling on a pod."""
    found = decode(review(one, **request))
    assert found.object is not None
    look(found, found.object, cluster).keep(body, RULING)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rulings, few for each kind of pod, and none of large pods."""
    monkeypatch.setattr(precedents, "MOST_KEYS", 2)
    cluster = snapshot(*CLUSTER)
    kept(cluster, pod("ib", container()), b"x" * (precedents.MOST_BYTES + 1))
    kept(cluster, pod("ib", container()), b"{" * (precedents.FEW_BYTES + 1))
    assert page(cluster) == {}
    kept(cluster, pod("ib", container("large")), b"x" * precedents.MOST_BYTES)
    for name in "abc":
        kept(cluster, pod("ib", container(name)))
    (several,) = page(cluster).values()
    assert len(several) == precedents.MOST_A_KEY
    for namespace in ("n1", "n2"):
        kept(cluster, pod("ib", container()), namespace=namespace)
    assert len(page(cluster)) == 1


def test_a_volume_of_the_authors_keeps_its_name() -> None:
    """An edit can be about an emptyDir, whatever it is called."""
    mount = {"name": "kube-api-access-shm", "mountPath": "/dev/shm"}  # noqa: S108 a path in the container
    gpu = {"limits": {"nvidia.com/gpu": "1"}}
    one = pod("ib", container("a", volumeMounts=[mount], resources=gpu))
    one["spec"]["containers"].append(container("b", resources=gpu))
    memory = {"emptyDir": {"medium": "Memory"}}
    one["spec"]["volumes"] = [{"name": "kube-api-access-shm", **memory}]
    found = answered(one, snapshot(*CLUSTER))
    patch = json.loads(b64decode(json.loads(found.body)["response"]["patch"]))
    mounted = [op["value"] for op in patch if op["path"] == "/spec/containers/1/volumeMounts"]
    assert mounted == [[mount]]
