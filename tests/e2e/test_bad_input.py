"""What users write wrong: one sentence back through the real kubectl, and nothing is created."""

import http
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness import tenants
from tests.harness.calls import Document
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK, NETWORKS, Tenant

MakeTenant = Callable[..., Tenant]

DENIED = 'admission webhook "pods.rdma.io" denied the request: '

pytestmark = pytest.mark.usefixtures("unharmed")


def _bad(code: int, reason: str, message: str, **pod: Any) -> Any:  # noqa: ANN401 - any field
    """A pod that is refused: the code, the reason, and what the message says."""
    annotations = pod.pop("annotations")
    body = tenants.pod("bad", annotations, pod.pop("limits", None), **pod)
    return pytest.param(code, reason, message, body)


def _network(code: int, reason: str, message: str, value: str) -> Any:  # noqa: ANN401 - as above
    """A pod that is refused for what its annotation ``rdma.io/network`` says."""
    return _bad(code, reason, message, annotations={NETWORK: value})


INVALID = "NetworkAnnotationInvalid"
COUNT = "CountOutOfRange"
CONTAINERS = "ContainersAnnotationInvalid"
FIELD = rf"metadata\.annotations\[{re.escape(NETWORK)}\]: "

REFUSED = {
    "blank": _network(422, INVALID, FIELD + "is blank", ""),
    "white space": _network(422, INVALID, FIELD + "is blank", " \t"),
    "an empty item": _network(422, INVALID, "item 2 of .* is empty", "roce,,train-ib"),
    "a trailing comma": _network(422, INVALID, "item 2 of .* is empty", "roce,"),
    "a list of another kind": _network(422, INVALID, "neither NAME nor NAME:COUNT", "[roce]"),
    "upper case": _network(422, INVALID, "neither NAME nor NAME:COUNT", "Roce"),
    "no-break space": _network(422, INVALID, "neither NAME nor NAME:COUNT", "\u00a0roce"),
    "control characters": _network(422, INVALID, "neither NAME", "roce\x00\x1b[31m"),
    "a count of nothing": _network(422, INVALID, "neither NAME nor NAME:COUNT", "roce:"),
    "a count of 0": _network(422, INVALID, "neither NAME nor NAME:COUNT", "roce:0"),
    "a negative count": _network(422, INVALID, "neither NAME nor NAME:COUNT", "roce:-1"),
    "a count in words": _network(422, INVALID, "neither NAME nor NAME:COUNT", "roce:two"),
    "a count beyond numbers": _network(422, INVALID, "neither NAME", f"roce:{'9' * 4000}"),
    "more than rails": _network(422, COUNT, "roce 3 times.*the network has 2", "roce,roce,roce"),
    "more than anybody": _network(422, COUNT, "train-ib 999999 times", "train-ib:999999"),
    "600 networks": _network(422, INVALID, "600 items", ",".join(f"n{n}" for n in range(600))),
    "over the limit": _network(
        403, "AttachmentsOverLimit", "9 of network train-ib.*maxPerPod.*is 8", "train-ib:9"
    ),
    "unknown": _network(
        403, "NetworkNotGranted", '"nowhere" is not granted to namespace team-a', "nowhere"
    ),
    "another letter case": _bad(
        422,
        "UnknownAnnotation",
        '"RDMA.io/network" is no annotation',
        annotations={NETWORK: "roce", "RDMA.io/network": "roce"},
    ),
    "plural": _bad(
        422,
        "UnknownAnnotation",
        r"metadata\.annotations\[rdma.io/networks\].*can write rdma.io/network ",
        annotations={"rdma.io/networks": "roce"},
    ),
    "no network": _bad(
        422,
        "AnnotationWithoutEffect",
        "has no effect without rdma.io/network",
        annotations={"rdma.io/shm-size": "1Gi"},
    ),
    "a container that is not there": _bad(
        422,
        CONTAINERS,
        r'no container "trainer" \(it has: main\)',
        annotations={NETWORK: "roce", "rdma.io/containers": "trainer"},
    ),
    "a container twice": _bad(
        422,
        CONTAINERS,
        '"main" twice',
        annotations={NETWORK: "roce", "rdma.io/containers": "main,main"},
    ),
    "the host's network": _bad(
        422,
        "HostNetworkConflict",
        "no CNI runs on the host network",
        annotations={NETWORK: "roce"},
        hostNetwork=True,
    ),
    "two kinds of network": _network(
        422, "HostNetworkConflict", "roce .*network lingjun takes away", "roce,lingjun"
    ),
    "more shared memory": _bad(
        403,
        "SharedMemoryOverLimit",
        "65Gi is above .* 64Gi",
        annotations={NETWORK: "roce", "rdma.io/shm-size": "65Gi"},
    ),
    "no size": _bad(
        422,
        "ShmSizeInvalid",
        '"much" is no size in bytes',
        annotations={NETWORK: "roce", "rdma.io/shm-size": "much"},
    ),
    "a partition of others": _bad(
        403,
        "PartitionNotGranted",
        r'"other" of network roce is not granted .*\(granted: main\)',
        annotations={NETWORK: "roce", "rdma.io/partition": "other"},
    ),
    "a selection that Multus refuses": _bad(
        422,
        "NetworkSelectionInvalid",
        "Multus would fail the pod",
        annotations={NETWORK: "roce", NETWORKS: "a/b/c"},
    ),
    "a network of others by hand": _bad(
        403,
        "ForeignNetworkDenied",
        "team-b/rdma-roce-r0-v0220",
        annotations={NETWORK: "roce", NETWORKS: "team-b/rdma-roce-r0-v0220"},
    ),
    "a privileged container": _bad(
        403,
        "PrivilegeDenied",
        "privileged: is true",
        annotations={NETWORK: "roce"},
        containers=[{"name": "main", "image": "x", "securityContext": {"privileged": True}}],
    ),
    "Windows": _bad(
        422,
        "WindowsPod",
        "windows has no RDMA networks",
        annotations={NETWORK: "roce"},
        os={"name": "windows"},
    ),
    "every container excluded": _bad(
        422,
        "ContainersExcluded",
        r"main set a resource of the network \(rdma/hca_r0, rdma/hca_r1\) to 0",
        annotations={NETWORK: "roce"},
        limits={"rdma/hca_r0": "0"},
    ),
    "no accelerator to count by": _network(
        422, "AcceleratorMissing", "efa gives 4 for each accelerator", "efa"
    ),
}


def _sentence(stderr: str, reason: str) -> str:
    """The one line that kubectl shows, without what kubectl and the API server put before it."""
    lines = [line for line in stderr.splitlines() if not line.startswith("Warning: ")]
    assert len(lines) == 1, stderr
    assert lines[0].startswith(f"Error from server ({reason}): ")
    return lines[0].partition(DENIED)[2]


@pytest.mark.parametrize(("code", "reason", "message", "body"), REFUSED.values(), ids=list(REFUSED))
def test_a_user_is_told_in_one_sentence(
    controlplane: ControlPlane, code: int, reason: str, message: str, body: Document
) -> None:
    """Kubectl prints why, where and who can change it; nothing is created, nothing is a 5xx."""
    shown = controlplane.kubectl(
        "create", "-n", "team-a", "-f", "-", user="alice", stdin=json.dumps(body), check=False
    )
    assert (shown.returncode, shown.stdout) == (1, "")
    sentence = _sentence(shown.stderr, reason)
    assert re.search(message, sentence), sentence
    assert sentence.isprintable()
    assert len(sentence) < 600
    assert re.search(r"\b(can|ask)\b", sentence), f"who can change it: {sentence}"
    status, answer = tenants.post(controlplane, "team-a", body, user="alice")
    assert (status, answer["code"], answer["reason"]) == (code, code, reason)
    assert answer["message"] == DENIED + sentence


@pytest.mark.usefixtures("example_tenants")
def test_an_annotation_written_twice_is_the_last_one(controlplane: ControlPlane) -> None:
    """JSON with one key twice: the API server keeps the last, and that is what is equipped."""
    text = json.dumps(tenants.pod("doubled", {NETWORK: "nowhere"}))
    doubled = text.replace('"nowhere"', f'"nowhere", "{NETWORK}": "roce"')
    path = "/api/v1/namespaces/team-a/pods"
    status, answer = controlplane.api("POST", f"{path}?fieldValidation=Strict", doubled)
    assert (status, "duplicate field" in answer["message"]) == (400, True)
    status, stored = controlplane.api("POST", path, doubled, user="alice")
    assert status == 201, stored
    assert stored["metadata"]["annotations"][NETWORK] == "roce"
    assert tenants.status(stored)["networks"] == ["roce"]


def test_a_namespace_without_policy_has_no_networks(
    controlplane: ControlPlane, namespace: str
) -> None:
    """After a moment for a policy that may be on its way, the user reads who can create one."""
    controlplane.add_tenant("alice", namespace)
    body = json.dumps(tenants.pod("early", {NETWORK: "roce"}))
    for flags in ([], ["--dry-run=server"]):
        shown = controlplane.kubectl(
            "create", "-n", namespace, "-f", "-", *flags, user="alice", stdin=body, check=False
        )
        sentence = _sentence(shown.stderr, "PolicyNotReady")
        assert f"namespace {namespace} has no RDMAPolicy" in sentence
        assert f"ask the platform admin to create RDMAPolicy {namespace}/default" in sentence


def test_an_attachment_that_is_missing_is_counted(
    controlplane: ControlPlane, make_tenant: MakeTenant
) -> None:
    """Where one of two NADs is not there, the user reads which, and to try again; then it works."""
    tenant = make_tenant("roce")
    (_, gone) = tenants.attachments(tenant.namespace, "roce", tenant.number)
    name = gone["metadata"]["name"]
    controlplane.kubectl("delete", "net-attach-def", name, "-n", tenant.namespace)
    body = tenants.pod("early", {NETWORK: "roce"})

    def refused() -> Document | None:
        status, answer = tenants.post(
            controlplane, tenant.namespace, body, user=tenant.user, dry_run=True
        )
        return answer if status != http.HTTPStatus.CREATED else None

    assert controlplane.wait_for("the NAD is gone", refused)["code"] == 403
    status, answer = tenants.post(controlplane, tenant.namespace, body, user=tenant.user)
    assert (status, answer["reason"]) == (403, "PolicyNotReady")
    assert "1 of 2 NetworkAttachmentDefinitions are there" in answer["message"]
    assert f"{tenant.namespace}/{name} is not; try again" in answer["message"]
    tenants.create(controlplane, gone)
    assert tenants.post(controlplane, tenant.namespace, body, user=tenant.user)[0] == 201
