"""Pod templates of every workload kind."""

from typing import Any

import pytest
import yaml

from webhook.pods.strays import strays
from webhook.pods.templates import elsewhere, flattened, templates

T = "{metadata: {annotations: {a/b: x}}, spec: {containers: [{name: c}]}}"

CASES = yaml.safe_load(
    """
template: &t {metadata: {annotations: {a/b: x}}, spec: {containers: [{name: c}]}}
cases:
  a Pod is its own template:
    - [v1, Pod, {spec: {containers: [{name: c}]}}]
    - ["", "", 1]
  PodTemplate:
    - [v1, PodTemplate, {template: *t}]
    - [template, "", null]
  Deployment counts replicas:
    - [apps/v1, Deployment, {spec: {replicas: 3, template: *t}}]
    - [spec.template, "", 3]
  StatefulSet has one replica by default:
    - [apps/v1, StatefulSet, {spec: {template: *t}}]
    - [spec.template, "", 1]
  DaemonSet has as many pods as nodes:
    - [apps/v1, DaemonSet, {spec: {template: *t}}]
    - [spec.template, "", null]
  ReplicaSet:
    - [apps/v1, ReplicaSet, {spec: {template: *t}}]
    - [spec.template, "", 1]
  ReplicationController scaled down:
    - [v1, ReplicationController, {spec: {replicas: 0, template: *t}}]
    - [spec.template, "", 0]
  Job runs no more pods than completions:
    - [batch/v1, Job, {spec: {parallelism: 8, completions: 4, template: *t}}]
    - [spec.template, "", 4]
  CronJob:
    - [batch/v1, CronJob, {spec: {jobTemplate: {spec: {parallelism: 2, template: *t}}}}]
    - [spec.jobTemplate.spec.template, "", 2]
  PyTorchJob:
    - - kubeflow.org/v1
      - PyTorchJob
      - spec: {pytorchReplicaSpecs: {Master: {template: *t}, Worker: {replicas: 3, template: *t}}}
    - [spec.pytorchReplicaSpecs.Master.template, Master, 1]
    - [spec.pytorchReplicaSpecs.Worker.template, Worker, 3]
  JobSet multiplies jobs and pods:
    - - jobset.x-k8s.io/v1alpha2
      - JobSet
      - spec:
          replicatedJobs:
            - name: workers
              replicas: 2
              template: {spec: {parallelism: 4, completions: 4, template: *t}}
    - ["spec.replicatedJobs[workers].template.spec.template", workers, 8]
  LeaderWorkerSet with both templates:
    - - leaderworkerset.x-k8s.io/v1
      - LeaderWorkerSet
      - spec:
          replicas: 2
          leaderWorkerTemplate: {size: 4, leaderTemplate: *t, workerTemplate: *t}
    - [spec.leaderWorkerTemplate.leaderTemplate, leader, 2]
    - [spec.leaderWorkerTemplate.workerTemplate, worker, 6]
  LeaderWorkerSet whose leaders are made of the workers' template:
    - - leaderworkerset.x-k8s.io/v1
      - LeaderWorkerSet
      - spec: {replicas: 2, leaderWorkerTemplate: {size: 4, workerTemplate: *t}}
    - [spec.leaderWorkerTemplate.workerTemplate, leader, 2]
    - [spec.leaderWorkerTemplate.workerTemplate, worker, 6]
  RayCluster counts hosts:
    - - ray.io/v1
      - RayCluster
      - spec:
          headGroupSpec: {template: *t}
          workerGroupSpecs: [{groupName: gpu, replicas: 2, numOfHosts: 4, template: *t}]
    - [spec.headGroupSpec.template, head, 1]
    - ["spec.workerGroupSpecs[gpu].template", gpu, 8]
  RayJob:
    - - ray.io/v1
      - RayJob
      - spec: {rayClusterSpec: {headGroupSpec: {template: *t}}, submitterPodTemplate: *t}
    - [spec.rayClusterSpec.headGroupSpec.template, head, 1]
    - [spec.submitterPodTemplate, submitter, 1]
  RayService:
    - [ray.io/v1, RayService, {spec: {rayClusterConfig: {headGroupSpec: {template: *t}}}}]
    - [spec.rayClusterConfig.headGroupSpec.template, head, 1]
  Volcano Job:
    - - batch.volcano.sh/v1alpha1
      - Job
      - spec: {tasks: [{name: worker, replicas: 5, template: *t}]}
    - ["spec.tasks[worker].template", worker, 5]
  TrainingRuntime:
    - - trainer.kubeflow.org/v1alpha1
      - ClusterTrainingRuntime
      - spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: *t}}}]}}}
    - ["spec.template.spec.replicatedJobs[node].template.spec.template", node, 1]
  an unknown kind is searched:
    - - example.org/v1
      - Fleet
      - spec: {pools: [{name: p, replicas: 3, podTemplate: *t}], extra: {deep: *t}}
    - ["spec.pools[p].podTemplate", p, 3]
    - [spec.extra.deep, "", null]
  an unknown kind without pods:
    - [example.org/v1, Fleet, {spec: {containers: 3}}]
  nulls and odd values are passed over:
    - [apps/v1, Deployment, {spec: {replicas: true, template: [1]}}]
"""
)["cases"]


def _object(api_version: str, kind: str, rest: str) -> dict[str, Any]:
    head = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: it}}\n"
    found: dict[str, Any] = yaml.safe_load(head + rest)
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_every_template_is_found(case: list[Any]) -> None:
    """Path, role and number of pods of each template."""
    (api_version, kind, rest), *expected = case
    head = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it"}}
    found = templates({**head, **rest})
    assert [[one.path, one.role, one.replicas] for one in found] == expected
    for one in found:
        assert one.pod["spec"]["containers"] == [{"name": "c"}]
        if one.path:
            assert (one.pod["apiVersion"], one.pod["kind"]) == ("v1", "Pod")
            assert one.pod["metadata"] == {"generateName": "it-", "annotations": {"a/b": "x"}}


def test_the_items_of_a_list_are_taken_one_by_one() -> None:
    """A List may hold Lists."""
    pod = _object("v1", "Pod", "spec: {}")
    nested = {"kind": "PodList", "items": [pod, 7]}
    assert list(flattened({"kind": "List", "items": [nested, pod]})) == [pod, pod]
    assert list(flattened(pod)) == [pod]


MPI = f"""
spec:
  mpiReplicaSpecs:
    Launcher: {{template: {T}}}
    Worker: {{replicas: 2, template: {T}}}
"""
PREFIX = "training.kubeflow.org/"


def test_mpi_pods_carry_the_labels_of_their_operator() -> None:
    """mpi-operator tells launcher and workers apart by label."""
    launcher, worker = templates(_object("kubeflow.org/v2beta1", "MPIJob", MPI))
    expected = {f"{PREFIX}operator-name": "mpi-operator", f"{PREFIX}job-name": "it"}
    assert launcher.pod["metadata"]["labels"] == {**expected, f"{PREFIX}job-role": "launcher"}
    assert worker.pod["metadata"]["labels"] == {**expected, f"{PREFIX}job-role": "worker"}


def test_a_launcher_that_runs_as_worker_is_told_by_its_index() -> None:
    """The field leaves the role and adds the replica index."""
    found = _object("kubeflow.org/v2beta1", "MPIJob", MPI + "  runLauncherAsWorker: true\n")
    launcher, worker = templates(found)
    assert launcher.pod["metadata"]["labels"][f"{PREFIX}replica-index"] == "0"
    assert f"{PREFIX}replica-index" not in worker.pod["metadata"]["labels"]


def test_the_older_mpi_job_carries_no_such_labels() -> None:
    """kubeflow.org/v1 starts its ranks another way."""
    launcher, _ = templates(_object("kubeflow.org/v1", "MPIJob", MPI))
    assert "labels" not in launcher.pod["metadata"]


def test_a_notebook_hands_its_own_annotations_to_its_pod() -> None:
    """The controller reads only the spec of the template."""
    found = _object("kubeflow.org/v1", "Notebook", f"spec: {{template: {T}}}")
    found["metadata"]["annotations"] = {"a/c": "y"}
    (one,) = templates(found)
    assert one.pod["metadata"] == {"generateName": "it-", "annotations": {"a/c": "y"}}
    assert [stray.path for stray in strays(found, _is_ours)] == [
        "spec.template.metadata.annotations"
    ]


def test_an_inference_service_with_containers_is_a_pod_spec() -> None:
    """Annotations of component and object are united, the component's first."""
    spec = "spec: {predictor: {annotations: {a/b: y}, containers: [{name: c}]}}"
    found = _object("serving.kserve.io/v1beta1", "InferenceService", spec)
    found["metadata"]["annotations"] = {"a/b": "x", "a/c": "z"}
    (one,) = templates(found)
    assert one.pod["metadata"]["annotations"] == {"a/b": "y", "a/c": "z"}
    assert one.pod["spec"] == {"containers": [{"name": "c"}]}
    assert strays(found, _is_ours) == ()


@pytest.mark.parametrize(
    ("found", "source"),
    [
        (
            _object(
                "trainer.kubeflow.org/v1alpha1", "TrainJob", "spec: {runtimeRef: {name: torch}}"
            ),
            "ClusterTrainingRuntime torch",
        ),
        (
            _object(
                "serving.kserve.io/v1beta1",
                "InferenceService",
                "spec: {predictor: {model: {runtime: vllm}}}",
            ),
            "ServingRuntime vllm",
        ),
        (_object("v1", "ConfigMap", ""), ""),
    ],
    ids=["TrainJob", "InferenceService with a model", "no workload"],
)
def test_pods_that_come_from_elsewhere(found: dict[str, Any], source: str) -> None:
    """Objects without template say where their pods come from."""
    assert templates(found) == ()
    assert elsewhere(found) == source


def _is_ours(key: str) -> bool:
    return key.startswith("a/")


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (
            f"{{metadata: {{annotations: {{a/b: x}}}}, spec: {{template: {T}}}}}",
            ["spec.jobTemplate.metadata.annotations"],
        ),
        (
            "{spec: {template: {metadata: {labels: {a/b: x}}, spec: {}}}}",
            ["spec.jobTemplate.spec.template.metadata.labels"],
        ),
        (f"{{spec: {{template: {T}}}}}", []),
    ],
    ids=["on the job template", "as a label", "in its place"],
)
def test_keys_that_no_pod_gets_are_found(rest: str, expected: list[str]) -> None:
    """An annotation on the wrong level is reported with the right one."""
    found = strays(_object("batch/v1", "CronJob", f"spec: {{jobTemplate: {rest}}}"), _is_ours)
    assert [stray.path for stray in found] == expected
    for stray in found:
        assert (stray.key, stray.value) == ("a/b", "x")
        assert stray.better == "spec.jobTemplate.spec.template.metadata.annotations"


def test_keys_on_the_workload_are_found() -> None:
    """The commonest mistake: metadata of the Deployment itself."""
    found = _object("apps/v1", "Deployment", "spec: {template: {spec: {}}}")
    found["metadata"]["annotations"] = {"a/b": "x", "other": "y"}
    (one,) = strays(found, _is_ours)
    assert (one.path, one.better) == ("metadata.annotations", "spec.template.metadata.annotations")


def test_keys_in_lists_are_found() -> None:
    """The job template of a JobSet is one level above the pod template."""
    found = _object(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "spec: {replicatedJobs: [7, {name: w, template: "
        f"{{metadata: {{annotations: {{a/b: x}}}}, spec: {{template: {T}}}}}}}]}}",
    )
    (one,) = strays(found, _is_ours)
    assert one.path == "spec.replicatedJobs[w].template.metadata.annotations"
    assert one.better == "spec.replicatedJobs[w].template.spec.template.metadata.annotations"


def test_only_so_many_keys_are_reported() -> None:
    """A generated object with hundreds of them fills no screen."""
    found = _object("v1", "ConfigMap", "")
    found["metadata"]["annotations"] = {f"a/{number}": "x" for number in range(100)}
    assert len(strays(found, _is_ours)) == 32


def test_maps_and_lists_of_odd_values_are_passed_over() -> None:
    """Replica specs and tasks that are no objects make no pods."""
    spec = f"spec: {{mpiReplicaSpecs: {{Launcher: null, Worker: {{template: {T}}}}}}}"
    assert len(templates(_object("kubeflow.org/v2beta1", "MPIJob", spec))) == 1
    spec = f"spec: {{tasks: [null, 7, {{name: w, template: {T}}}]}}"
    assert len(templates(_object("batch.volcano.sh/v1alpha1", "Job", spec))) == 1


def test_what_is_nested_too_deep_is_not_searched() -> None:
    """Neither for templates nor for keys: no object of a real kind is that deep."""
    found = _object("example.org/v1", "Fleet", "")
    inner = yaml.safe_load(T)
    for _ in range(100):
        inner = {"x": inner}
    found["spec"] = inner
    assert templates(found) == ()
    assert strays(found, _is_ours) == ()
