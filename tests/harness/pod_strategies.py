"""Pods whose every field is absent, null, empty, present, or unknown to us, for Hypothesis.

A field that the API server's own decoder would refuse (a name that is null, say) is never made:
what cannot arrive is no case.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.harness.pods import Object

BUDGET = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""Enough to meet every pair of shapes of neighbouring fields, and the same ones on every run."""

NETWORKS = (
    "roce",
    "roce:3",
    " roce:1 , ib",
    "ib:2",
    "ib,ib-b",
    "shared",
    "shared:1",
    "shared,tokens",
    "tokens:2",
    "tokens,tokens",
    "host",
    "host,tokens",
    "pages:2",
    "pages",
    "roce,tokens:4,pages:1",
    "unknown",
    "",
)
"""What the annotation says, for the cluster of `tests.harness.cluster`."""
SELECTIONS = (
    "",
    "storage",
    "storage@net7, team-a/rdma-roce-r0-v0210",
    "rdma-roce-r0-v0210@mine,rdma-roce-r0-v0210",
    '[{"name":"storage","mac":"02:00:00:00:00:01","x-of-mine":[1, null]}]',
    ' [ {"name": "rdma-shared-r1-v0210", "interface": "rdma0"} ] ',
    "[]",
    '[{"name":"storage"}',
    '[{"name":"rival","namespace":"team-b"}]',
)
"""What the author selected by hand."""
ENV_NAMES = ("NCCL_DEBUG", "NCCL_IB_TIMEOUT", "NCCL_IB_SL", "FI_PROVIDER", "PATH", "NCCL_IB_HCA")

_ABSENT = object()
_Json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=3,
)


def maybe(present: st.SearchStrategy[Any], empty: Callable[[], Any] | None = None) -> Any:  # noqa: ANN401
    """Return a field that is absent, null, empty where it can be, or present."""
    rare: Any = st.none() if empty is None else st.none() | st.builds(empty)
    return st.just(_ABSENT) | rare | present


def shaped(required: dict[str, Any] | None = None, **optional: Any) -> st.SearchStrategy[Object]:  # noqa: ANN401
    """Return an object of these fields, at times with one that nobody knows."""
    extra = st.just(_ABSENT) | st.just(_ABSENT) | _Json
    fields = {"fieldOfTomorrow": extra, **(required or {}), **optional}
    return st.fixed_dictionaries(fields).map(
        lambda found: {key: value for key, value in found.items() if value is not _ABSENT}
    )


def _lists(item: st.SearchStrategy[Object], most: int = 2) -> Any:  # noqa: ANN401
    return maybe(st.lists(item, min_size=1, max_size=most), list)


def _quantities() -> st.SearchStrategy[Object]:
    """Return limits or requests: ours and others, topped up already or not, at times 0."""
    names = (
        "nvidia.com/roce_r0",
        "nvidia.com/ib_r0",
        "rdma/ib",
        "nvidia.com/gpu",
        "cpu",
        "memory",
        "hugepages-2Mi",
    )
    numbers = st.sampled_from(("1", "2", "1", "2", "8", "0", "1k"))
    return st.dictionaries(st.sampled_from(names), numbers, max_size=3)


_Resources = shaped(
    limits=maybe(_quantities(), dict),
    requests=maybe(_quantities(), dict),
    claims=_lists(shaped({"name": st.just("gpu")}), 1),
)
_Names = st.sampled_from(("IPC_LOCK", "NET_RAW", "ALL", "SYS_TIME"))
_SecurityContext = shaped(
    capabilities=maybe(
        shaped(
            add=maybe(st.lists(_Names, max_size=2), list),
            drop=maybe(st.lists(_Names, max_size=2), list),
        ),
        dict,
    ),
    privileged=maybe(st.booleans()),
    runAsUser=maybe(st.sampled_from((0, 1000))),
    runAsNonRoot=maybe(st.booleans()),
    procMount=maybe(st.just("Default")),
)
_Env = st.one_of(
    shaped({"name": st.sampled_from(ENV_NAMES), "value": st.sampled_from(("", "INFO", "=mlx5_0"))}),
    shaped(
        {"name": st.sampled_from(ENV_NAMES), "valueFrom": st.just({"fieldRef": {"fieldPath": "x"}})}
    ),
    shaped({"name": st.sampled_from(ENV_NAMES)}),
)
_Mount = shaped(
    {
        "name": st.sampled_from(("scratch", "rdma-shm", "cache")),
        "mountPath": st.sampled_from(("/dev/shm", "//dev/shm/", "/data", "/dev/hugepages", "/dev")),  # noqa: S108
    },
    readOnly=maybe(st.booleans()),
    subPath=maybe(st.just("part"), str),
)
_Port = shaped({"containerPort": st.just(8080)})


def _container(names: tuple[str, ...], *, starts: bool) -> st.SearchStrategy[Object]:
    return shaped(
        {"name": st.sampled_from(names)},
        env=_lists(_Env, 3),
        envFrom=_lists(st.builds(lambda: {"configMapRef": {"name": "nccl"}}), 1),
        ports=_lists(_Port, 1),
        resources=maybe(_Resources, dict),
        restartPolicy=maybe(st.just("Always")) if starts else st.just(_ABSENT),
        securityContext=maybe(_SecurityContext, dict),
        volumeMounts=_lists(_Mount),
    )


_Volume = shaped(
    {"name": st.sampled_from(("scratch", "rdma-shm", "cache", "rdma-hugepages", "rdma-nccl-conf"))},
    emptyDir=maybe(
        shaped(
            medium=maybe(st.sampled_from(("Memory", "HugePages")), str),
            sizeLimit=maybe(st.just("1Gi")),
        ),
        dict,
    ),
)
_Toleration = shaped(
    key=maybe(st.just("vpc.amazonaws.com/efa"), str), operator=maybe(st.just("Exists"))
)


def _distinct(field: str, item: st.SearchStrategy[Object], most: int = 2) -> Any:  # noqa: ANN401
    """Return a list of things whose names differ, as the API server wants them."""
    several = st.lists(item, min_size=1, max_size=most, unique_by=lambda one: one[field])
    return maybe(several, list)


_Spec = shaped(
    {
        "containers": st.lists(
            _container(("main", "side", "istio-proxy"), starts=False),
            min_size=1,
            max_size=2,
            unique_by=lambda one: one["name"],
        )
    },
    initContainers=_distinct("name", _container(("setup", "native"), starts=True)),
    volumes=_distinct("name", _Volume, 3),
    hostNetwork=maybe(st.just(value=False)),
    hostIPC=maybe(st.booleans()),
    hostUsers=maybe(st.booleans()),
    dnsPolicy=maybe(st.sampled_from(("ClusterFirst", "None")), str),
    nodeSelector=maybe(st.just({"zone/of": "a"}), dict),
    os=maybe(shaped(name=maybe(st.just("linux"))), dict),
    resources=maybe(_Resources, dict),
    runtimeClassName=maybe(st.just("kata-qemu"), str),
    securityContext=maybe(_SecurityContext, dict),
    tolerations=_lists(_Toleration),
)
_Annotations = shaped(
    {"rdma.io/network": st.sampled_from(NETWORKS)},
    **{
        "k8s.v1.cni.cncf.io/networks": st.just(_ABSENT) | st.sampled_from(SELECTIONS),
        "rdma.io/status": st.just(_ABSENT) | st.just("of an older pod"),
        "rdma.io/shm-size": st.just(_ABSENT) | st.just(_ABSENT) | st.just("2Gi"),
        "rdma.io/containers": st.just(_ABSENT) | st.just(_ABSENT) | st.just("main"),
        "a~b/c": st.just(_ABSENT) | st.just("its author's"),
        "fieldOfTomorrow": st.just(_ABSENT),
    },
)
_Labels = st.sampled_from(("worker", "launcher")).map(
    lambda role: {
        "training.kubeflow.org/operator-name": "mpi-operator",
        "training.kubeflow.org/job-role": role,
    }
)
_Metadata = shaped(
    {"annotations": _Annotations},
    name=maybe(st.just("train-0"), str),
    generateName=maybe(st.just("train-"), str),
    labels=maybe(_Labels, dict),
    namespace=maybe(st.sampled_from(("team-a", "team-b", "kube-system")), str),
    creationTimestamp=maybe(st.nothing()),
)

PODS = shaped({"metadata": _Metadata, "spec": _Spec, "apiVersion": st.just("v1")})
"""Pods that ask for a network."""
CONTAINERS = _container(("main",), starts=False)
SPECS = _Spec
