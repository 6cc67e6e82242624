"""Facts about pods for tests of the policies, without any pod JSON."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from policies.parse import parse
from policies.policy import RDMAPolicy
from policies.snapshot import Snapshot
from policies.subject import Container, Selected, Subject
from policies.tenancy import Tenancy, compiled

Object = dict[str, Any]

NETWORK = "rdma.io/network"


def container(
    name: str = "main",
    resources: Mapping[str, int] | None = None,
    *,
    gpus: int = 0,
    **fields: Any,  # noqa: ANN401 any field of Container
) -> Container:
    """Return an app container; `subject` gives it its index."""
    usual: Object = {
        "place": ("containers", 0),
        "runs_along": True,
        "is_proxy": False,
        "privileged": False,
        "has_env_from": False,
    }
    given = tuple((resources or {}).items())
    return Container(name=name, resources=given, accelerators=gpus, **{**usual, **fields})


def init(name: str, resources: Mapping[str, int] | None = None, **fields: Any) -> Container:  # noqa: ANN401
    """Return a plain init container; ``runs_along=True`` makes it a native sidecar."""
    usual = {"place": ("initContainers", 0), "runs_along": False}
    return container(name, resources, **{**usual, **fields})


def subject(
    network: str | None = "train",
    *containers: Container,
    annotations: Mapping[str, str] | None = None,
    **fields: Any,  # noqa: ANN401 any field of Subject
) -> Subject:
    """Return the facts of a pod in team-a; one container where none is given."""
    wanted = {NETWORK: network} if network is not None else {}
    counts = {"containers": 0, "initContainers": 0}
    placed = []
    for one in containers or (container(),):
        field = one.place[0]
        placed.append(replace(one, place=(field, counts[field])))
        counts[field] += 1
    return Subject(
        namespace=fields.pop("namespace", "team-a"),
        annotations=tuple({**wanted, **(annotations or {})}.items()),
        containers=tuple(placed),
        **fields,
    )


def selected(name: str, interface: str = "", namespace: str = "team-a") -> Selected:
    """Return a network selection element that the pod's author wrote."""
    return Selected(namespace=namespace, name=name, interface=interface)


def tenancy_of(policy: Object) -> Tenancy:
    """Return a policy in its compact form."""
    return compiled(parse(RDMAPolicy, policy))


def tenancy_in(snapshot: Snapshot, namespace: str = "team-a") -> Tenancy:
    """Return the policy of a namespace, which has to be there."""
    found = snapshot.shard(namespace).tenancy
    assert found is not None
    return found
