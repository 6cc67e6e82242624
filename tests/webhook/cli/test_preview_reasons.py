"""Every change that is shown comes with the reason for it."""

from typing import Any

import pytest

from tests.harness.cluster import cluster, granted, network, policy, rail
from webhook.cli.preview.verdicts import Judged, judge
from webhook.cli.preview.world import World
from webhook.pods.templates import templates

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {}},
    "spec": {"containers": [{"name": "main"}]},
}
TRAINER = {"resources": {"limits": {"nvidia.com/gpu": 1, "memory": "64Gi"}}}
MPI_WORKER = {
    "training.kubeflow.org/operator-name": "mpi-operator",
    "training.kubeflow.org/job-role": "worker",
}


def _judged(
    wanted: str,
    *,
    container: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,  # noqa: ANN401 any field of team-a's policy
) -> Judged:
    snapshot = cluster(
        network(
            "plain", "DeviceOnly", rail("r0", "rdma/plain"), podDefaults={"sharedMemory": "1Gi"}
        ),
        grants=(
            *(granted(name) for name in ("plain", "host", "pages", "tokens")),
            granted("roce", 210),
            granted("ib", 17),
        ),
        **spec,
    )
    world = World(snapshot, True, frozenset(), {}, (), ())  # noqa: FBT003 - has_folder
    metadata = {
        "name": "p",
        "labels": labels or {},
        "annotations": {"rdma.io/network": wanted, **(annotations or {})},
    }
    spec_of_pod = {"containers": [{"name": "main", **(container or {})}]}
    (template,) = templates({**POD, "metadata": metadata, "spec": spec_of_pod})
    return judge(template, "Pod team-a/p", "team-a", world)


@pytest.mark.parametrize(
    ("arguments", "what", "why"),
    [
        ({"wanted": "roce"}, "annotation k8s.v1.cni.cncf.io/networks",
         "Multus attaches rdma0 on roce/r0, rdma1 on roce/r1"),
        ({"wanted": "host"}, "spec.hostNetwork = true", "network host is on the host's network"),
        ({"wanted": "pages", "container": TRAINER},
         "main: hugepages-2Mi = 5120Mi", "podDefaults.hugepages of pages"),
        ({"wanted": "pages", "container": TRAINER},
         "nodeSelector node.example/efa=true", "podDefaults of network pages or of the policy"),
        ({"wanted": "plain", "annotations": {"rdma.io/shm-size": "2Gi"}}, "main: mount /dev/shm",
         "shared memory of the size in rdma.io/shm-size"),
        ({"wanted": "plain"}, "main: mount /dev/shm",
         "shared memory, podDefaults.sharedMemory of network plain"),
        ({"wanted": "plain", "podDefaults": {"sharedMemory": "3Gi"}}, "main: mount /dev/shm",
         "shared memory, podDefaults.sharedMemory of RDMAPolicy team-a/default"),
        ({"wanted": "tokens"}, "main: mount /dev/shm",
         "shared memory, since a container has 64 MiB by default"),
        ({"wanted": "plain", "podLimits": {"sharedMemory": {"max": "512Mi"}}},
         "main: mount /dev/shm",
         "shared memory, bounded by podLimits of RDMAPolicy team-a/default"),
        ({"wanted": "plain", "podDefaults": {"capabilities": {"add": ["IPC_LOCK"]}}},
         "main: capability +IPC_LOCK",
         "RDMA pins memory; podDefaults of RDMAPolicy team-a/default"),
        ({"wanted": "plain", "podLimits": {"requiredDrop": ["NET_RAW"]}},
         "main: capability -NET_RAW", "requiredDrop of RDMAPolicy team-a/default"),
        ({"wanted": "ib"}, "main: env NCCL_IB_SL=1", "podDefaults.env of network ib"),
        ({"wanted": "plain", "podLimits": {"env": [{"name": "A", "value": "1"}]}},
         "main: env A=1", "podLimits.env of RDMAPolicy team-a/default"),
        ({"wanted": "ib", "labels": MPI_WORKER}, "main: mount /etc/nccl.conf",
         "NCCL defaults in a file: sshd hands its ranks no environment"),
        ({"wanted": "ib", "container": {"envFrom": [{"configMapRef": {"name": "c"}}]}},
         "main: mount /etc/nccl.conf",
         "NCCL defaults in a file: in env they would override the container's envFrom"),
    ],
)  # fmt: skip
def test_each_change_has_a_reason(arguments: dict[str, Any], what: str, why: str) -> None:
    """Where the value comes from, in words."""
    verdict = _judged(**arguments)
    assert verdict.verdict == "Patched", verdict.message
    assert {change.what: change.why for change in verdict.changes}[what] == why


def test_nothing_is_shown_of_what_is_there_already() -> None:
    """The pod that the first patch made changes no more, and is explained all the same."""
    first = _judged("ib")
    world_of_first = cluster(grants=(granted("ib", 17),))
    world = World(world_of_first, True, frozenset(), {}, (), ())  # noqa: FBT003 - has_folder
    (template,) = templates(first.after)
    again = judge(template, "Pod team-a/p", "team-a", world)
    assert (again.verdict, again.ops, again.changes) == ("Unchanged", (), ())
    assert again.applicable is not None


def test_an_unready_policy_is_a_refusal() -> None:
    """With a folder, what is missing is missing."""
    snapshot = cluster(policy("absent"))
    world = World(snapshot, True, frozenset(), {}, (), ())  # noqa: FBT003 - has_folder
    metadata = {"name": "p", "annotations": {"rdma.io/network": "absent"}}
    (template,) = templates({**POD, "metadata": metadata})
    verdict = judge(template, "Pod team-a/p", "team-a", world)
    assert (verdict.verdict, verdict.reason) == ("Denied", "PolicyNotReady")
