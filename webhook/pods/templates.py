"""The pods that a workload will make: its templates, each as a pod object.

Knows how objects of Kubernetes and its operators are written down; knows no RDMA and touches no
file. What is not a mapping where one belongs is passed over: the API server judges schemas.

kubeflow/mpi-operator (v2beta1, ``pkg/controller/mpi_job_controller.go`` ``defaultLabels``,
``newWorker``, ``newLauncherPodTemplate``) writes over the labels of a template
``training.kubeflow.org/operator-name: mpi-operator``, ``job-name`` and ``job-role: launcher`` or
``worker``. ``runLauncherAsWorker`` leaves the launcher's role and adds ``replica-index: "0"`` to
it, and keeps the environment that would hide accelerators from it off. Decisions depend on these,
so the pods made here carry them. ``kubeflow.org/v1`` starts ranks by ``kubectl exec`` and sets none
of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from webhook.pods.workloads import KINDS, Count, Shape, Spot

Object = Mapping[str, Any]

MAX_DEPTH: Final = 24
"""How deep templates of unknown kinds are looked for; the deepest known one is 7 deep."""
_MPI_API: Final = "kubeflow.org/v2beta1"
_MPI_PREFIX: Final = "training.kubeflow.org/"
_FACTORS: Final = ("replicas", "parallelism", "numOfHosts")


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of pod that a workload makes.

    Attributes:
        path: From the object to the template, as ``spec.template``; empty for a Pod itself.
        role: What the workload calls these pods, as ``Worker``; empty where it has one kind.
        replicas: Pods at a time; None where the object does not say.
        pod: apiVersion, kind, metadata (with generateName) and spec. Parts are shared with the
            object, so it must not be changed.
    """

    path: str
    role: str
    replicas: int | None
    pod: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Found:
    """A template as it stands in the object."""

    path: str
    role: str
    node: Object
    around: tuple[Object, ...]
    """Every mapping on the way, the object first."""


def group_and_kind(found: Object) -> tuple[str, str]:
    """Return API group (empty for the core group) and kind of an object."""
    version = str(found.get("apiVersion") or "")
    return version.rpartition("/")[0], str(found.get("kind") or "")


def flattened(found: Object) -> Iterator[Object]:
    """Yield the object, or the items of a ``List`` one by one, at any depth."""
    items = found.get("items")
    if str(found.get("kind") or "").endswith("List") and isinstance(items, list):
        for item in items:
            if isinstance(item, Mapping):
                yield from flattened(item)
        return
    yield found


def templates(found: Object) -> tuple[Template, ...]:
    """Return the pods that one object makes, in its own order; none where it makes none.

    Kinds that the table does not know are searched for what looks like a pod template: a mapping
    whose ``spec.containers`` is a list of objects.
    """
    if group_and_kind(found) == ("", "Pod"):
        return (Template("", "", 1, dict(found)),)
    spots = KINDS.get(group_and_kind(found))
    if spots is None:
        return tuple(
            _template(found, one, Spot("", count=_counted(one))) for one in _searched(found)
        )
    return tuple(
        _template(found, one, spot)
        for spot in spots
        for one in _at(found, spot)
        if spot.shape is not Shape.INLINE or _is_whole(one.node)
    )


def elsewhere(found: Object) -> str:
    """Return where the pods of an object come from that holds no template; empty if unknown."""
    group, kind = group_and_kind(found)
    spec = _mapping(found.get("spec"))
    if (group, kind) == ("trainer.kubeflow.org", "TrainJob"):
        runtime = _mapping(spec.get("runtimeRef"))
        return f"{runtime.get('kind') or 'ClusterTrainingRuntime'} {runtime.get('name') or ''}"
    if (group, kind) == ("serving.kserve.io", "InferenceService"):
        model = _mapping(_mapping(spec.get("predictor")).get("model"))
        return f"ServingRuntime {model.get('runtime') or '(chosen by the model format)'}"
    return ""


def _at(found: Object, spot: Spot) -> Iterator[_Found]:
    """Yield what stands at a path of the table."""
    places = [_Found("", spot.role, found, ())]
    for step in spot.path.split("."):
        places = [after for place in places for after in _step(place, step)]
    if spot.count is Count.GROUP_LEADERS and not places:
        # A leader without template of its own is made of the workers' (leaderworkerset_controller).
        workers = Spot("spec.leaderWorkerTemplate.workerTemplate", spot.role, count=Count.PRODUCT)
        yield from _at(found, workers)
    yield from places


def _step(place: _Found, step: str) -> Iterator[_Found]:
    name = step.removesuffix("[]")
    around = (*place.around, place.node)
    if step == "*":
        for key, value in place.node.items():
            if isinstance(value, Mapping):
                yield _Found(_joined(place.path, str(key)), str(key), value, around)
        return
    value = place.node.get(name)
    if step == name:
        if isinstance(value, Mapping):
            yield _Found(_joined(place.path, name), place.role, value, around)
        return
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, Mapping):
            called = str(item.get("name") or item.get("groupName") or index)
            yield _Found(f"{_joined(place.path, name)}[{called}]", called, item, around)


def _searched(found: Object) -> Iterator[_Found]:
    """Yield what looks like a pod template, wherever it stands."""
    left: list[tuple[_Found, int]] = [(_Found("", "", found, ()), 0)]
    while left:
        place, depth = left.pop()
        if _is_whole(_mapping(place.node.get("spec"))):
            yield place
            continue
        if depth < MAX_DEPTH:
            below = [after for key in place.node for after in _below(place, str(key))]
            left += [(after, depth + 1) for after in reversed(below)]


def _below(place: _Found, key: str) -> Iterator[_Found]:
    yield from _step(place, key)
    yield from _step(place, f"{key}[]")


def _is_whole(spec: Object) -> bool:
    """Whether a pod spec names its containers itself, and no model runtime adds to them."""
    several = spec.get("containers")
    return (
        isinstance(several, list)
        and bool(several)
        and all(isinstance(one, Mapping) for one in several)
        and not spec.get("model")
    )


def _template(owner: Object, one: _Found, spot: Spot) -> Template:
    metadata, spec = _parts(owner, one.node, spot.shape)
    labels = _operator_labels(owner, one.role)
    if labels:
        metadata["labels"] = {**_mapping(metadata.get("labels")), **labels}
    own = _mapping(owner.get("metadata"))
    name = own.get("name") or str(own.get("generateName") or "").rstrip("-")
    metadata.pop("name", None)
    metadata = {"generateName": f"{name}-", **metadata}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return Template(one.path, one.role, _replicas(one, spot.count), pod)


def _parts(owner: Object, node: Object, shape: Shape) -> tuple[dict[str, Any], Any]:
    """Return metadata (a copy) and spec of the pods."""
    if shape is Shape.TEMPLATE:
        return dict(_mapping(node.get("metadata"))), node.get("spec") or {}
    own = _mapping(owner.get("metadata"))
    inline = node if shape is Shape.INLINE else {}
    metadata = {
        key: {**_mapping(own.get(key)), **_mapping(inline.get(key))}
        for key in ("labels", "annotations")
    }
    spec = node.get("spec") or {} if shape is Shape.SPEC_OF_OWNER else _without_metadata(node)
    return {key: value for key, value in metadata.items() if value}, spec


def _without_metadata(node: Object) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in {"labels", "annotations"}}


def _operator_labels(owner: Object, role: str) -> dict[str, str]:
    """Return the labels that decisions depend on and that an operator writes over a template's."""
    if owner.get("kind") != "MPIJob" or owner.get("apiVersion") != _MPI_API:
        return {}
    labels = {
        f"{_MPI_PREFIX}operator-name": "mpi-operator",
        f"{_MPI_PREFIX}job-name": str(_mapping(owner.get("metadata")).get("name") or ""),
        f"{_MPI_PREFIX}job-role": role.lower(),
    }
    if role == "Launcher" and _mapping(owner.get("spec")).get("runLauncherAsWorker") is True:
        labels[f"{_MPI_PREFIX}replica-index"] = "0"
    return labels


def _counted(one: _Found) -> Count:
    """Return how an unknown kind's pods are counted: only where it says a number itself."""
    said = any(_whole(each.get(name)) is not None for each in one.around for name in _FACTORS)
    return Count.PRODUCT if said else Count.UNKNOWN


def _replicas(one: _Found, count: Count) -> int | None:
    if count is Count.UNKNOWN:
        return None
    total = 1
    for each in one.around:
        factors = [_whole(each.get(name)) for name in _FACTORS]
        parallel, completions = _whole(each.get("parallelism")), _whole(each.get("completions"))
        if parallel is not None and completions is not None:
            factors[1] = min(parallel, completions)
        for factor in factors:
            total *= 1 if factor is None else factor
    if count is Count.GROUP_WORKERS:
        total *= max((_whole(one.around[-1].get("size")) or 1) - 1, 0)
    return total


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _mapping(value: object) -> Object:
    return value if isinstance(value, Mapping) else {}
