"""The whole flow: which answer each kind of review gets."""

import json
from typing import Any

import jsonpatch
import pytest

from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.harness.cluster import cluster, labelled, network, policy, rail, snapshot
from tests.harness.pods import Object, ask, asking, container, pod, review
from webhook.admission.answer import Answer, Waiting
from webhook.admission.errors import MalformedReview
from webhook.admission.handle import handle

KEY = "k8s.v1.cni.cncf.io/networks"
MPI = {
    "training.kubeflow.org/operator-name": "mpi-operator",
    "training.kubeflow.org/job-role": "launcher",
}
IGNORES = Rules(missing_policy="Ignore")


def labelled_pod(name: str, labels: dict[str, str]) -> Object:
    """Return a pod with labels."""
    given = pod(name)
    given["metadata"]["labels"] = labels
    return given


@pytest.mark.parametrize(
    ("given", "request_fields"),
    [
        pytest.param(pod(), {}, id="a pod without annotation of ours"),
        pytest.param(None, {"operation": "DELETE"}, id="no object"),
        pytest.param({}, {}, id="an empty object"),
        pytest.param({"metadata": None, "spec": None}, {}, id="nulls"),
        pytest.param(pod("tokens"), {"operation": "DELETE"}, id="a pod that goes"),
        pytest.param(pod("tokens"), {"subResource": "binding"}, id="a subresource"),
        pytest.param(pod("tokens"), {"subResource": "ephemeralcontainers"}, id="a debug container"),
        pytest.param(pod("tokens"), {"kind": {"kind": "Job"}}, id="another kind"),
        pytest.param(
            pod("tokens", annotations={"kubernetes.io/config.mirror": "x"}), {}, id="a mirror pod"
        ),
        pytest.param(pod("tokens", containers=[]), {}, id="no containers"),
        pytest.param(
            pod(annotations={"rdma.io/status": "{}"}), {}, id="nothing but what the webhook writes"
        ),
    ],
)
def test_what_is_left_alone_without_a_word(given: Any, request_fields: dict[str, Any]) -> None:  # noqa: ANN401
    """These pass as they are, whatever the policy."""
    found = ask(given, cluster(), **request_fields)
    assert (found.verdict, found.warnings, found.waits) == ("Unchanged", (), None)


@pytest.mark.parametrize(
    ("given", "request_fields", "rules", "warning"),
    [
        pytest.param(
            pod("tokens"),
            {"operation": "UPDATE"},
            None,
            "has no effect on a pod that exists",
            id="late",
        ),
        pytest.param(
            pod("tokens"), {"namespace": "bare"}, IGNORES, "bare has no RDMAPolicy", id="no policy"
        ),
        pytest.param(
            labelled_pod("tokens", MPI),
            {},
            None,
            "MPI launcher without accelerator",
            id="a launcher",
        ),
    ],
)
def test_what_is_left_alone_with_a_word(
    given: Object, request_fields: dict[str, Any], rules: Rules | None, warning: str
) -> None:
    """Its author learns why nothing happens."""
    found = ask(given, cluster(rules=rules or Rules()), **request_fields)
    assert found.verdict == "Unchanged"
    assert [warning in text for text in found.warnings] == [True]


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_an_update_with_the_same_annotation_is_left_alone(operation: str) -> None:
    """A label edit of an equipped pod is no business of ours."""
    given = pod("tokens")
    found = ask(given, cluster(), operation="UPDATE", oldObject=given)
    assert (found.verdict, found.warnings) == ("Unchanged", ()), operation


@pytest.mark.parametrize(
    "name", ["roce", "ib", "shared", "tokens", "host", "pages:2", "roce,ib,tokens:4"]
)
def test_a_pod_on_each_kind_of_network_is_patched(name: str) -> None:
    """One annotation, and the pod gets what its networks need."""
    found = ask(pod(name, asking(memory="1Gi")), cluster())
    assert found.verdict == "Patched"
    assert found.patch


def test_a_patched_pod_is_left_alone_the_second_time() -> None:
    """A call that finds everything sends no patch."""
    given = pod("tokens", asking(rdma__ib="1"), annotations={"rdma.io/status": ""})
    first = ask(given, cluster(podDefaults={"sharedMemory": "0", "capabilities": {"add": []}}))
    assert [op["path"] for op in first.patch] == ["/metadata/annotations/rdma.io~1status"]
    given["metadata"]["annotations"]["rdma.io/status"] = first.patch[0]["value"]
    second = ask(given, cluster(podDefaults={"sharedMemory": "0", "capabilities": {"add": []}}))
    assert (second.verdict, second.patch) == ("Unchanged", ())


def test_networks_on_the_same_devices_are_each_counted_once() -> None:
    """On the second call a device of one network is not held against the other's limit."""
    given = pod("ib:2,ib-b")
    first = ask(given, cluster())
    patch: Any = list(first.patch)
    again = jsonpatch.JsonPatch(patch).apply(given)
    assert first.verdict == "Patched"
    assert ask(again, cluster()).verdict == "Unchanged"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(pod("ib:3"), id="by the annotation"),
        pytest.param(pod("ib", asking(**{"nvidia.com/ib_r0": "3"})), id="by hand"),
    ],
)
def test_more_than_the_policy_allows_is_refused(given: Object) -> None:
    """Devices count against maxPerPod however they are asked for."""
    found = ask(given, cluster())
    assert (found.reason, found.code) == ("AttachmentsOverLimit", 403)


@pytest.mark.parametrize(
    ("given", "reason", "code"),
    [
        pytest.param(pod(""), "NetworkAnnotationInvalid", 422, id="a blank annotation"),
        pytest.param(pod("a b"), "NetworkAnnotationInvalid", 422, id="no name"),
        pytest.param(
            pod(annotations={"RDMA.io/Network": "ib"}), "UnknownAnnotation", 422, id="another case"
        ),
        pytest.param(
            pod(annotations={"rdma.io/shm-size": "1Gi"}), "AnnotationWithoutEffect", 422, id="alone"
        ),
        pytest.param(pod("absent"), "NetworkNotGranted", 403, id="a network that nobody knows"),
        pytest.param(pod("shared:3"), "CountOutOfRange", 422, id="more than there are rails"),
        pytest.param(pod("pages"), "AcceleratorMissing", 422, id="no accelerator to count"),
        pytest.param(pod("tokens", os={"name": "windows"}), "WindowsPod", 422, id="a Windows pod"),
        pytest.param(
            pod("ib", hostNetwork=True), "HostNetworkConflict", 422, id="the host's network"
        ),
        pytest.param(
            pod("ib", annotations={KEY: "a,"}), "NetworkSelectionInvalid", 422, id="a bad selection"
        ),
        pytest.param(
            pod("ib", asking(a__b="500m")), "ResourceQuantityInvalid", 422, id="half a device"
        ),
        pytest.param(
            pod(
                "roce",
                asking("a", **{"nvidia.com/gpu": "1"}),
                asking("b", **{"nvidia.com/gpu": "1"}),
            ),
            "ContainersAmbiguous",
            422,
            id="two containers for one device",
        ),
        pytest.param(pod("tokens", hostPID=True), "PrivilegeDenied", 403, id="a privileged pod"),
        pytest.param(
            pod("tokens", annotations={KEY: "team-b/rival"}),
            "ForeignNetworkDenied",
            403,
            id="a foreign network by hand",
        ),
    ],
)
def test_a_refusal_is_one_sentence(given: Object, reason: str, code: int) -> None:
    """The pod is refused with a code, a reason and one line of what, where and who."""
    found = ask(given, cluster())
    assert (found.verdict, found.reason, found.code) == ("Denied", reason, code)
    assert found.message.isprintable()
    assert len(found.message) < 500
    assert "author can" in found.message or "admin can" in found.message
    assert found.waits is None


@pytest.mark.parametrize(
    ("given", "known", "waits", "reason"),
    [
        pytest.param(
            pod("tokens"),
            snapshot(),
            "RDMAPolicy/team-a/default",
            "PolicyNotReady",
            id="the policy",
        ),
        pytest.param(
            pod("late"),
            cluster(grants=({"name": "late"},)),
            "RDMANetwork/late",
            "PolicyNotReady",
            id="the network",
        ),
        pytest.param(
            pod("roce"),
            cluster(without=[("NetworkAttachmentDefinition", "team-a", "rdma-roce-r1-v0210")]),
            "NetworkAttachmentDefinition/team-a/rdma-roce-r1-v0210",
            "PolicyNotReady",
            id="a rail's NAD",
        ),
        pytest.param(
            pod("tokens", annotations={KEY: "team-a/absent"}),
            cluster(),
            "NetworkAttachmentDefinition/team-a/absent",
            "NetworkAttachmentNotFound",
            id="a NAD selected by hand",
        ),
    ],
)
def test_a_fact_that_may_arrive_is_waited_for(
    given: Object, known: Snapshot, waits: str, reason: str
) -> None:
    """The caller learns what is missing, and has the refusal at hand if it does not come."""
    found = ask(given, known)
    assert (found.waits, found.verdict, found.reason, found.code) == (waits, "Denied", reason, 403)


def test_waiting_is_told_from_answering() -> None:
    """What waits is a value of its own, with the answer inside."""
    found = handle(review(pod("tokens")), snapshot())
    assert isinstance(found, Waiting)
    assert isinstance(found.answer, Answer)
    assert (found.kind, found.namespace, found.name) == ("RDMAPolicy", "team-a", "default")
    assert found.answer.decision.reason == "PolicyNotReady"


ON_TWO = policy("roce", {"name": "train-ib", "partitions": [{"name": "main", "number": 17}]})


@pytest.mark.parametrize(
    ("given", "known", "verdict"),
    [
        pytest.param(pod("unheard-of"), cluster(), "Denied", id="a network that is not granted"),
        pytest.param(pod("default"), cluster(), "Denied", id="a default that is not set"),
        pytest.param(
            pod("train-ib", annotations={"rdma.io/partition": "unheard-of"}),
            cluster(ON_TWO),
            "Denied",
            id="a partition that is not granted",
        ),
        pytest.param(
            pod("tokens"), snapshot(rules=IGNORES), "Unchanged", id="no policy, which is ignored"
        ),
    ],
)
def test_what_a_policy_of_a_moment_ago_would_change_is_doubted(
    given: Object, known: Snapshot, verdict: str
) -> None:
    """Policy and pod may come in one file: the answer says whose newer version to look for."""
    for _ in range(2):
        found = handle(review(given), known)
        assert isinstance(found, Answer)
        assert found.decision.verdict == verdict
        assert found.doubted == ("RDMAPolicy", "team-a", "default")


@pytest.mark.parametrize(
    ("given", "known"),
    [
        pytest.param(pod("tokens"), cluster(), id="an equipped pod"),
        pytest.param(pod(), snapshot(), id="a pod that asks for nothing"),
        pytest.param(pod("tokens:x"), cluster(), id="an annotation that means nothing"),
        pytest.param(pod("tokens", containers=[]), cluster(), id="nobody to equip"),
    ],
)
def test_other_answers_are_not_doubted(given: Object, known: Snapshot) -> None:
    """Looking at the policy once more costs nothing where it could not help."""
    found = handle(review(given), known)
    assert isinstance(found, Answer)
    assert found.doubted is None


@pytest.mark.parametrize("namespace", [None, ""])
def test_a_request_without_namespace_is_none(namespace: str | None) -> None:
    """The object's own namespace never stands in for it."""
    given = pod("tokens")
    given["metadata"]["namespace"] = "team-a"
    with pytest.raises(MalformedReview, match=r"request\.namespace is empty"):
        ask(given, cluster(), namespace=namespace)


@pytest.mark.parametrize(
    ("level", "verdict"),
    [("privileged", "Patched"), ("baseline", "Denied"), ("restricted", "Denied")],
)
def test_pod_security_is_looked_at(level: str, verdict: str) -> None:
    """A capability that Pod Security forbids is said here, not by the API server later."""
    assert ask(pod("tokens"), cluster(labelled("team-a", enforce=level))).verdict == verdict


def test_below_enforce_rights_are_only_warned_of() -> None:
    """The pod is equipped all the same, and its author told."""
    found = ask(pod("tokens", hostPID=True), cluster(enforcement="Warn"))
    assert found.verdict == "Patched"
    assert found.warnings[0].startswith("PrivilegeDenied (not enforced): ")


def test_the_audit_level_tells_the_log_alone() -> None:
    """What would be refused at Enforce is in the audit annotations, and nobody is warned."""
    found = handle(review(pod("tokens", hostPID=True)), cluster(enforcement="Audit"))
    assert isinstance(found, Answer)
    response = json.loads(found.body)["response"]
    assert response["auditAnnotations"]["not-enforced"] == "PrivilegeDenied"
    assert not any("not enforced" in text for text in response.get("warnings", []))


def test_a_large_pod_is_patched() -> None:
    """Three mebibytes of environment change nothing."""
    env = [{"name": f"A{number}", "value": "x" * 1000} for number in range(3000)]
    given = pod("tokens", container(env=env), annotations={"note": "y" * 200_000})
    assert len(review(given)) > 3 << 20
    found = ask(given, cluster())
    assert found.verdict == "Patched"
    assert len(json.dumps(found.patch)) < 2000


def test_a_list_of_six_hundred_networks_is_refused_shortly() -> None:
    """The message does not grow with what its author wrote."""
    found = ask(pod(",".join(f"net-{number}" for number in range(600))), cluster())
    assert found.reason == "NetworkAnnotationInvalid"
    assert "holds 600 items, want at most 128" in found.message


def test_a_cluster_of_six_hundred_networks() -> None:
    """A pod on the networks that its policy grants is equipped, however many others there are."""
    others = [network(f"net-{n}", "DeviceOnly", rail("r0", f"rdma/pool-{n}")) for n in range(600)]
    names = [f"net-{n}" for n in range(584, 600)]
    known = snapshot(*others, policy(*names))
    found = ask(pod(",".join(names)), known)
    assert found.verdict == "Patched"
    assert ask(pod("net-0"), known).reason == "NetworkNotGranted"


def test_what_is_no_review_is_the_callers_fault() -> None:
    """The error of the decoder passes through."""
    with pytest.raises(MalformedReview):
        handle(b"{}", cluster())
