"""Pod JSON to the facts that policies look at."""

from collections.abc import Mapping

from policies.names import DEFAULT_SELECTION_ANNOTATION, SELECTION_ANNOTATION, WEBHOOK_KEYS
from policies.quantity import whole
from policies.refusal import Reason, Refusal, quoted
from policies.rules import Rules
from policies.subject import Container, Selected, Subject
from policies.wish import is_ours, where
from webhook.pods import pod as pods
from webhook.pods import selection
from webhook.pods.errors import InvalidSelection
from webhook.pods.pod import Place, Pod

MAX_CONTAINERS = 512
MAX_SELECTION_TEXT = 65536
"""Some 600 elements as we write them, a quarter of what all annotations may hold together."""
_MPI_OPERATOR = ("training.kubeflow.org/operator-name", "mpi-operator")
_MPI_ROLE = "training.kubeflow.org/job-role"
_MPI_INDEX = "training.kubeflow.org/replica-index"
"""Labels that kubeflow/mpi-operator gives to the pods of an MPIJob. A launcher that runs as a
worker keeps its role and has an index (``pkg/controller/mpi_job_controller.go``)."""


def mpi_role(labels: Mapping[str, str]) -> str:
    """Return ``worker``, ``launcher``, or empty for pods of no MPIJob.

    A launcher that runs as a worker is neither: it takes part, and starts its ranks itself.
    """
    if labels.get(_MPI_OPERATOR[0]) != _MPI_OPERATOR[1]:
        return ""
    role = labels.get(_MPI_ROLE, "")
    return "" if role == "launcher" and _MPI_INDEX in labels else role


def describe(pod: Pod, namespace: str, rules: Rules) -> Subject | Refusal:
    """Return the facts about a pod, or why it cannot be read for certain.

    Args:
        pod: The partially decoded pod.
        namespace: Of the request; the object's own is not trusted.
        rules: Which resources are accelerators, which containers proxies.
    """
    spec = pods.spec(pod)
    annotations = pods.annotations(pod)
    too_large = _too_large(spec, annotations)
    if too_large is not None:
        return too_large
    ours = [
        (key, "" if key in WEBHOOK_KEYS else value)
        for key, value in annotations.items()
        if is_ours(key)
    ]
    selections = _selections(annotations, namespace)
    if isinstance(selections, Refusal):
        return selections
    containers: list[Container] = []
    for place, container in pods.containers(pod):
        described = _container(place, container, spec.get("resources"), rules)
        if isinstance(described, Refusal):
            return described
        containers.append(described)
    role = mpi_role(pods.labels(pod))
    return Subject(
        namespace=namespace,
        annotations=tuple(ours),
        containers=tuple(containers),
        selections=selections,
        host_network=spec.get("hostNetwork") is True,
        is_windows=(spec.get("os") or {}).get("name") == "windows",
        is_mpi_worker=role == "worker",
        is_mpi_launcher=role == "launcher",
        node_selector=tuple((spec.get("nodeSelector") or {}).items()),
        runtime_class=spec.get("runtimeClassName") or "",
    )


def _too_large(spec: pods.Spec, annotations: Mapping[str, str]) -> Refusal | None:
    """Return a refusal of a pod beyond what any job needs, before work is spent on it."""
    number = len(spec.get("containers") or ()) + len(spec.get("initContainers") or ())
    if number > MAX_CONTAINERS:
        return Refusal(
            Reason.POD_TOO_LARGE,
            f"spec.containers: {number} containers with init containers, want at most "
            f"{MAX_CONTAINERS} in a pod on an RDMA network; the pod's author can split it",
        )
    for key in (SELECTION_ANNOTATION, DEFAULT_SELECTION_ANNOTATION):
        length = len(annotations.get(key, ""))
        if length > MAX_SELECTION_TEXT:
            return Refusal(
                Reason.POD_TOO_LARGE,
                f"{where(key)}: {length} characters, want at most {MAX_SELECTION_TEXT}; the pod's "
                "author can select fewer networks",
            )
    return None


def _container(
    place: Place, container: pods.Container, whole_pod: pods.Resources | None, rules: Rules
) -> Container | Refusal:
    resources: dict[str, int] = {}
    found = container.get("resources")
    if found:
        for side in (found.get("limits"), found.get("requests")):
            for name, quantity in (side or {}).items():
                if "/" not in name:
                    continue
                number = whole(quantity)
                if number is None:
                    return _no_whole_number(place, container, name, str(quantity))
                resources[name] = max(number, resources.get(name, 0))
    context = container.get("securityContext") or {}
    return Container(
        place=place,
        name=container.get("name", ""),
        runs_along=pods.runs_along(place, container),
        resources=tuple(resources.items()),
        accelerators=sum(resources[name] for name in resources if rules.is_accelerator(name)),
        claims_devices=bool(found and found.get("claims")),
        is_proxy=container.get("name") in rules.proxies,
        privileged=pods.is_privileged(container),
        has_env_from=bool(container.get("envFrom")),
        asks_memory=_asks_memory(found) or _asks_memory(whole_pod),
        added=tuple((context.get("capabilities") or {}).get("add") or ()),
    )


def _asks_memory(resources: pods.Resources | None) -> bool:
    """Whether resources ask for cpu or memory, which huge pages need beside them."""
    if not resources:
        return False
    asked = (*(resources.get("limits") or ()), *(resources.get("requests") or ()))
    return "memory" in asked or "cpu" in asked


def _no_whole_number(place: Place, container: pods.Container, name: str, quantity: str) -> Refusal:
    return Refusal(
        Reason.RESOURCE_INVALID,
        f"spec.{place[0]}[{container.get('name', place[1])}].resources: {name} is "
        f"{quoted(quantity)}, want a whole number; the pod's author can change it",
    )


def _selections(annotations: dict[str, str], namespace: str) -> tuple[Selected, ...] | Refusal:
    """Return what the pod's author selected by hand, of both annotations."""
    found: list[Selected] = []
    for key in (SELECTION_ANNOTATION, DEFAULT_SELECTION_ANNOTATION):
        value = annotations.get(key)
        is_default = key == DEFAULT_SELECTION_ANNOTATION
        if value is None or not (value or is_default):
            continue
        try:
            elements = selection.parse_one(value) if is_default else selection.parse(value)
        except InvalidSelection as err:
            return Refusal(
                Reason.SELECTION_INVALID,
                f"{where(key)}: {err}; Multus would fail the pod, its author can correct it",
            )
        found += [
            Selected(
                namespace=one.namespace or ("" if is_default else namespace),
                name=one.name,
                interface=one.interface,
                extra_keys=one.extra_keys,
                is_default=is_default,
            )
            for one in elements
        ]
    return tuple(found)
