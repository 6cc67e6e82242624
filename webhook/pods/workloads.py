"""Where each kind of workload keeps its pod templates, as a table.

Knows the kinds' own field names; knows no RDMA. A path is written as people write it: ``*`` stands
for every key of a map, ``[]`` for every item of a list.

Sources: kubernetes/api ``apps/v1``, ``batch/v1``, ``core/v1`` types; kubeflow/training-operator
``pkg/apis/kubeflow.org/v1`` (replica specs); kubeflow/mpi-operator
``pkg/apis/kubeflow/v2beta1/types.go``; kubernetes-sigs/jobset ``api/jobset/v1alpha2``;
kubernetes-sigs/lws ``api/leaderworkerset/v1``; ray-project/kuberay ``apis/ray/v1``;
volcano-sh/apis ``pkg/apis/batch/v1alpha1/job.go``; kubeflow/trainer ``pkg/apis/trainer/v1alpha1``;
kubeflow/notebooks ``notebook_controller.go``; kserve/kserve ``components/predictor.go``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Shape(Enum):
    """What stands at a path."""

    TEMPLATE = "metadata and spec, as in every PodTemplateSpec"
    SPEC_OF_OWNER = "only the spec counts; the pods get labels and annotations of the object"
    INLINE = "a pod spec with annotations and labels beside its fields; the object's count too"


class Count(Enum):
    """How many pods are made of a template at a time."""

    PRODUCT = (
        "replicas, parallelism and hosts of everything around it, multiplied; each 1 if absent"
    )
    GROUP_LEADERS = "one for each replica of the group"
    GROUP_WORKERS = "size less the leader, for each replica of the group"
    UNKNOWN = "the object does not say"


@dataclass(frozen=True, slots=True)
class Spot:
    """One place of pod templates in one kind.

    Attributes:
        path: From the object to the template.
        role: What its pods are called; empty where the path's ``*`` or the list item's name says.
        shape: What stands there.
        count: How many pods at a time.
    """

    path: str
    role: str = ""
    shape: Shape = Shape.TEMPLATE
    count: Count = Count.PRODUCT


_SIMPLE: Final = (Spot("spec.template"),)
_JOB_SET: Final = "replicatedJobs[].template.spec.template"


def _replicas(field: str) -> tuple[Spot, ...]:
    return (Spot(f"spec.{field}.*.template"),)


def _ray(path: str) -> tuple[Spot, ...]:
    return (
        Spot(f"{path}.headGroupSpec.template", role="head"),
        Spot(f"{path}.workerGroupSpecs[].template"),
    )


def _component(name: str) -> Spot:
    return Spot(f"spec.{name}", role=name, shape=Shape.INLINE, count=Count.UNKNOWN)


KINDS: Final[Mapping[tuple[str, str], tuple[Spot, ...]]] = {
    ("", "PodTemplate"): (Spot("template", count=Count.UNKNOWN),),
    ("", "ReplicationController"): _SIMPLE,
    ("apps", "Deployment"): _SIMPLE,
    ("apps", "StatefulSet"): _SIMPLE,
    ("apps", "ReplicaSet"): _SIMPLE,
    ("apps", "DaemonSet"): (Spot("spec.template", count=Count.UNKNOWN),),
    ("batch", "Job"): _SIMPLE,
    ("batch", "CronJob"): (Spot("spec.jobTemplate.spec.template"),),
    ("kubeflow.org", "PyTorchJob"): _replicas("pytorchReplicaSpecs"),
    ("kubeflow.org", "TFJob"): _replicas("tfReplicaSpecs"),
    ("kubeflow.org", "XGBoostJob"): _replicas("xgbReplicaSpecs"),
    ("kubeflow.org", "PaddleJob"): _replicas("paddleReplicaSpecs"),
    ("kubeflow.org", "JAXJob"): _replicas("jaxReplicaSpecs"),
    ("kubeflow.org", "MXJob"): _replicas("mxReplicaSpecs"),
    ("kubeflow.org", "MPIJob"): _replicas("mpiReplicaSpecs"),
    ("kubeflow.org", "Notebook"): (Spot("spec.template", shape=Shape.SPEC_OF_OWNER),),
    ("trainer.kubeflow.org", "TrainJob"): (),
    ("trainer.kubeflow.org", "TrainingRuntime"): (Spot(f"spec.template.spec.{_JOB_SET}"),),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): (Spot(f"spec.template.spec.{_JOB_SET}"),),
    ("jobset.x-k8s.io", "JobSet"): (Spot(f"spec.{_JOB_SET}"),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        Spot("spec.leaderWorkerTemplate.leaderTemplate", "leader", count=Count.GROUP_LEADERS),
        Spot("spec.leaderWorkerTemplate.workerTemplate", "worker", count=Count.GROUP_WORKERS),
    ),
    ("ray.io", "RayCluster"): _ray("spec"),
    ("ray.io", "RayJob"): (
        *_ray("spec.rayClusterSpec"),
        Spot("spec.submitterPodTemplate", role="submitter"),
    ),
    ("ray.io", "RayService"): _ray("spec.rayClusterConfig"),
    ("batch.volcano.sh", "Job"): (Spot("spec.tasks[].template"),),
    ("serving.kserve.io", "InferenceService"): (
        _component("predictor"),
        _component("predictor.workerSpec"),
        _component("transformer"),
        _component("explainer"),
    ),
    ("serving.knative.dev", "Service"): (Spot("spec.template", count=Count.UNKNOWN),),
}
"""By API group (the core group is empty) and kind; versions of a group agree on these fields.

MXJob is of training-operator 1.x below 1.8. A TrainJob holds patches for a runtime's templates and
no template of its own.
"""

ANNOTATED_OWNERS: Final = frozenset(
    {("kubeflow.org", "Notebook"), ("serving.kserve.io", "InferenceService")}
)
"""Kinds whose own annotations become those of their pods (notebook_controller.go
``generateStatefulSet``; predictor.go ``buildPredictorResources``)."""
