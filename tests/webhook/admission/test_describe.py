"""Pod JSON to the facts that policies look at."""

from typing import Any

import pytest

from policies.refusal import Reason, Refusal
from policies.subject import Container, Selected, Subject
from tests.harness.cluster import RULES
from tests.harness.pods import Object, asking, container, pod, read
from webhook.admission.describe import describe

KEY = "k8s.v1.cni.cncf.io/networks"
DEFAULT_KEY = "v1.multus-cni.io/default-network"
MPI = {"training.kubeflow.org/operator-name": "mpi-operator"}


def described(given: Object, namespace: str = "team-a") -> Subject:
    """Return the facts about a pod that can be read."""
    found = describe(read(given), namespace, RULES)
    assert isinstance(found, Subject), found
    return found


def refused(given: Object) -> Refusal:
    """Return why a pod cannot be read."""
    found = describe(read(given), "team-a", RULES)
    assert isinstance(found, Refusal), found
    return found


def first(given: Object) -> Container:
    """Return the facts about the first container."""
    return described(given).containers[0]


def test_the_namespace_is_that_of_the_request() -> None:
    """The object's own may be empty or forged."""
    given = pod("ib")
    given["metadata"]["namespace"] = "kube-system"
    assert described(given, "team-b").namespace == "team-b"


def test_only_annotations_of_ours_are_facts() -> None:
    """Two pods that differ in others are decided once; what the webhook writes is only a name."""
    others = {"a": "b", "rdma.io/status": "{}", "RDMA.io/x": "1", "rdma.io/nccl-conf": "A=1"}
    assert described(pod("ib", annotations=others)).annotations == (
        ("rdma.io/network", "ib"),
        ("rdma.io/status", ""),
        ("RDMA.io/x", "1"),
        ("rdma.io/nccl-conf", ""),
    )


@pytest.mark.parametrize("labels", [None, {}, {"a": "b"}])
def test_the_facts_of_a_plain_pod(labels: dict[str, str] | None) -> None:
    """What a pod does not say is off."""
    given = pod("ib")
    given["metadata"]["labels"] = labels
    assert described(given) == Subject(
        namespace="team-a",
        annotations=(("rdma.io/network", "ib"),),
        containers=(
            Container(
                place=("containers", 0),
                name="main",
                runs_along=True,
                resources=(),
                accelerators=0,
                is_proxy=False,
                privileged=False,
                has_env_from=False,
                asks_memory=False,
            ),
        ),
    )


@pytest.mark.parametrize(
    ("spec", "fact", "value"),
    [
        ({"hostNetwork": True}, "host_network", True),
        ({"hostNetwork": None}, "host_network", False),
        ({"os": {"name": "windows"}}, "is_windows", True),
        ({"os": {"name": "linux"}}, "is_windows", False),
        ({"os": None}, "is_windows", False),
        ({"nodeSelector": {"a": "b"}}, "node_selector", (("a", "b"),)),
        ({"nodeSelector": None}, "node_selector", ()),
        ({"runtimeClassName": "kata"}, "runtime_class", "kata"),
        ({"runtimeClassName": None}, "runtime_class", ""),
    ],
)
def test_facts_of_the_spec(spec: Object, fact: str, value: object) -> None:
    """Each field of the spec that a policy may look at is told."""
    assert getattr(described(pod("ib", **spec)), fact) == value


@pytest.mark.parametrize(
    ("labels", "is_worker", "is_launcher"),
    [
        ({**MPI, "training.kubeflow.org/job-role": "worker"}, True, False),
        ({**MPI, "training.kubeflow.org/job-role": "launcher"}, False, True),
        (MPI, False, False),
        ({"training.kubeflow.org/job-role": "worker"}, False, False),
    ],
)
def test_the_role_in_an_mpi_job(
    labels: dict[str, str], *, is_worker: bool, is_launcher: bool
) -> None:
    """Only the labels of the MPI operator, both of them, give a role."""
    given = pod("ib")
    given["metadata"]["labels"] = labels
    found = described(given)
    assert (found.is_mpi_worker, found.is_mpi_launcher) == (is_worker, is_launcher)


@pytest.mark.parametrize(
    ("sides", "resources"),
    [
        pytest.param({"limits": {"a/b": "2"}}, (("a/b", 2),), id="limits alone"),
        pytest.param({"requests": {"a/b": "2"}}, (("a/b", 2),), id="requests alone"),
        pytest.param(
            {"limits": {"a/b": "2"}, "requests": {"a/b": "3", "c/d": 1}},
            (("a/b", 3), ("c/d", 1)),
            id="the larger of both",
        ),
        pytest.param({"limits": {"a/b": "0"}}, (("a/b", 0),), id="an explicit nothing"),
        pytest.param({"limits": {"cpu": "500m", "memory": 1}}, (), id="cpu and memory are not"),
        pytest.param({"limits": None, "requests": None}, (), id="nulls"),
        pytest.param({}, (), id="an empty object"),
    ],
)
def test_extended_resources(sides: Object, resources: tuple[tuple[str, int], ...]) -> None:
    """What a container asks for, as whole numbers."""
    assert first(pod("ib", container(resources=sides))).resources == resources


@pytest.mark.parametrize("quantity", ["500m", "x", "-1", 1.5, -1])
def test_a_quantity_that_is_no_whole_number(quantity: object) -> None:
    """Devices cannot be halved; the message has the path and the value."""
    given = pod("ib", initContainers=[container("x", resources={"requests": {"a/b": quantity}})])
    found = refused(given)
    assert found.reason is Reason.RESOURCE_INVALID
    assert found.message.startswith(
        f'spec.initContainers[x].resources: a/b is "{quantity}", want a whole number'
    )


@pytest.mark.parametrize(
    ("own", "whole", "asks"),
    [
        pytest.param(None, None, False, id="nothing"),
        pytest.param({"limits": {"a/b": "1"}, "requests": None}, {}, False, id="devices alone"),
        pytest.param({"limits": {"memory": "1Gi"}}, None, True, id="a memory limit"),
        pytest.param({"requests": {"cpu": "1"}}, None, True, id="a CPU request"),
        pytest.param(None, {"requests": {"memory": "1Gi"}}, True, id="memory of the whole pod"),
    ],
)
def test_cpu_or_memory(own: Object | None, whole: Object | None, *, asks: bool) -> None:
    """Huge pages need one of them, in the container or in the whole pod."""
    given = pod("ib", container(resources=own), resources=whole)
    assert first(given).asks_memory is asks


def test_accelerators_are_counted() -> None:
    """GPUs and slices of GPUs count alike."""
    given = asking("main", **{"nvidia.com/gpu": "2", "nvidia.com/mig-1g.5gb": "3", "a/b": "9"})
    assert first(pod("ib", given)).accelerators == 5


@pytest.mark.parametrize(
    ("fields", "fact", "value"),
    [
        ({"name": "istio-proxy"}, "is_proxy", True),
        ({"envFrom": [{}]}, "has_env_from", True),
        ({"envFrom": []}, "has_env_from", False),
        ({"envFrom": None}, "has_env_from", False),
        ({"securityContext": {"privileged": True}}, "privileged", True),
        ({"securityContext": {"capabilities": {"add": ["A", "B"]}}}, "added", ("A", "B")),
        ({"securityContext": {"capabilities": {"add": None}}}, "added", ()),
        ({"securityContext": {"capabilities": None}}, "added", ()),
    ],
)
def test_facts_of_a_container(fields: Object, fact: str, value: object) -> None:
    """Each field of a container that a policy may look at is told."""
    assert getattr(first(pod("ib", {**container(), **fields})), fact) == value


def test_a_container_may_have_no_name() -> None:
    """The API server refuses it later; until then it is known by its place."""
    assert first(pod("ib", {"image": "x"})).name == ""
    assert (
        "spec.containers[0].resources"
        in refused(pod("ib", {"resources": {"limits": {"a/b": "x"}}})).message
    )


def test_native_sidecars_run_along() -> None:
    """Plain init containers do not."""
    inits = [container("a"), container("b", restartPolicy="Always")]
    found = described(pod("ib", initContainers=inits)).containers
    assert [(one.name, one.runs_along) for one in found] == [
        ("main", True),
        ("a", False),
        ("b", True),
    ]


def test_selections_of_both_annotations() -> None:
    """A namespace that is not written is the pod's, except for the primary network's."""
    values: dict[str, Any] = {
        KEY: '[{"name":"a","interface":"i","mac":""},{"name":"b","namespace":"n"}]',
        DEFAULT_KEY: "c",
    }
    assert described(pod("ib", annotations=values)).selections == (
        Selected("team-a", "a", "i", ("mac",)),
        Selected("n", "b", ""),
        Selected("", "c", "", (), is_default=True),
    )


@pytest.mark.parametrize("key", [KEY, DEFAULT_KEY])
def test_a_selection_that_multus_would_refuse(key: str) -> None:
    """The pod is refused while it can still be said, with the annotation's path."""
    found = refused(pod("ib", annotations={key: "a,"}))
    assert found.reason is Reason.SELECTION_INVALID
    assert found.message.startswith(f"metadata.annotations[{key}]: item 2 is empty")


def test_an_empty_selection_is_none() -> None:
    """An empty annotation selects nothing."""
    assert described(pod("ib", annotations={KEY: ""})).selections == ()


@pytest.mark.parametrize("value", ["", "[]", "team-a/a,team-a/b", '[{"name":"a"},{"name":"b"}]'])
def test_the_primary_network_is_exactly_one(value: str) -> None:
    """Multus refuses, or fails over, anything else."""
    found = refused(pod("ib", annotations={DEFAULT_KEY: value}))
    assert found.reason is Reason.SELECTION_INVALID
    assert "the primary network is exactly one" in found.message


def test_a_claim_is_a_fact() -> None:
    """Accelerators are asked for by claims too."""
    given = pod("ib", container(resources={"claims": [{"name": "gpus"}]}))
    assert first(given).claims_devices


def test_facts_can_be_hashed() -> None:
    """Two pods of the same facts get one decision, whatever their names."""
    one, other = pod("ib", asking(rdma__hca="1")), pod("ib", asking(rdma__hca="1"))
    other["metadata"]["name"] = "train-1"
    assert hash(described(one)) == hash(described(other))
    assert described(one) == described(other)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        pytest.param(
            pod("ib", *[container(f"c{n}") for n in range(513)]), "spec.containers", id="containers"
        ),
        pytest.param(
            pod("ib", annotations={KEY: "a," * 40_000}),
            f"metadata.annotations[{KEY}]",
            id="selections",
        ),
        pytest.param(
            pod("ib", annotations={DEFAULT_KEY: "a" * 70_000}),
            f"metadata.annotations[{DEFAULT_KEY}]",
            id="a primary network",
        ),
    ],
)
def test_a_pod_that_no_job_needs_is_refused_before_work(given: Object, place: str) -> None:
    """One pod cannot hold up the others."""
    found = refused(given)
    assert found.reason is Reason.POD_TOO_LARGE
    assert found.message.startswith(f"{place}: ")
