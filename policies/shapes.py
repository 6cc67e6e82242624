"""Shapes that several of our kinds share: the pod's own fields, bounded, as pydantic models.

The models mirror the CRDs field for field, since ``crd.py`` makes the CRDs from them; other modules
turn them into the compact values that the admission path reads.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt
from pydantic.alias_generators import to_camel

MAX_RAILS = 16
MAX_NETWORKS = 16
MAX_PARTITIONS = 16
MAX_LIST = 64
"""Bound on lists of capabilities, variables and tolerations: keeps CEL estimates in budget."""


class Shape(BaseModel):
    """A frozen value read from a custom resource; unknown fields are left to the API server."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    def __deepcopy__(self, memo: object = None) -> Self:
        """Return this very value: it is frozen. Pydantic copies defaults for every object else."""
        return self


def _as_text(value: object) -> object:
    """Return a quantity as text: Kubernetes lets ``8`` stand for ``"8"``."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


DnsLabel = Annotated[str, Field(max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
DnsName = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
QualifiedName = Annotated[
    str,
    Field(
        max_length=316,
        pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
    ),
]
Capability = Annotated[str, Field(max_length=63, pattern=r"^[A-Z][A-Z0-9_]*$")]
QUANTITY_PATTERN = r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"
Quantity = Annotated[
    str,
    Field(
        max_length=32,
        pattern=QUANTITY_PATTERN,
        json_schema_extra={"x-kubernetes-int-or-string": True},
    ),
    BeforeValidator(_as_text),
]
LabelValue = Annotated[str, Field(max_length=63)]
InterfaceName = Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[^\s/]+$")]
Positive = Annotated[StrictInt, Field(ge=1, le=1024)]


class Isolation(StrEnum):
    """How far the fabric itself keeps tenants apart, weakest first."""

    NONE = "None"
    SOFT = "Soft"
    HARD = "Hard"

    @property
    def strength(self) -> int:
        """0 for None, 1 for Soft, 2 for Hard."""
        return ("None", "Soft", "Hard").index(self.value)


class PartitionType(StrEnum):
    """What separates tenants of one fabric."""

    VLAN = "VLAN"
    PKEY = "PKey"


class EnvVar(Shape):
    """One environment variable with a literal value."""

    name: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    """Name of the environment variable."""
    value: Annotated[str, Field(max_length=1024)] = ""
    """Literal value; `$(` is escaped when it is written into a pod."""


class Capabilities(Shape):
    """Linux capabilities, written without the `CAP_` prefix."""

    add: Annotated[tuple[Capability, ...], Field(max_length=MAX_LIST)] | None = None
    """Capabilities added to equipped containers."""
    drop: Annotated[tuple[Capability, ...], Field(max_length=MAX_LIST)] | None = None
    """Capabilities dropped in every container of the pod."""


class Toleration(Shape):
    """A toleration in the pod's own shape."""

    key: Annotated[str, Field(max_length=316)] | None = None
    """Taint key; empty with operator Exists tolerates every taint."""
    operator: Literal["Exists", "Equal"] | None = None
    """Exists or Equal."""
    value: LabelValue | None = None
    """Taint value for operator Equal."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Taint effect; absent means all."""
    toleration_seconds: StrictInt | None = None
    """Seconds for which a NoExecute taint is tolerated."""

    def as_pod_field(self) -> dict[str, Any]:
        """The toleration as it is written into a pod: only the keys that are set."""
        return self.model_dump(by_alias=True, exclude_none=True)


class PodDefaults(Shape):
    """What an equipped pod gets where it says nothing itself."""

    capabilities: Capabilities | None = None
    """Linux capabilities to add to equipped containers and to drop in all containers."""
    shared_memory: Quantity | None = None
    """Size limit of the memory volume at /dev/shm; 0 means none is added."""
    env: Annotated[tuple[EnvVar, ...], Field(max_length=MAX_LIST)] = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]}
    )
    """Environment variables, used where the container does not set the name itself."""
    hugepages: Annotated[dict[str, Quantity], Field(max_length=4)] = Field(default_factory=dict)
    """Huge pages per page size, as hugepages-2Mi: 5120Mi."""
    node_selector: Annotated[dict[str, LabelValue], Field(max_length=MAX_LIST)] = Field(
        default_factory=dict
    )
    """Node labels that the pod needs; a contradiction with the pod's own is refused."""
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=MAX_LIST)] = ()
    """Tolerations added to the pod."""
