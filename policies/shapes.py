"""Shapes that several of our kinds share: the pod's own fields, bounded, as pydantic models.

The models mirror the CRDs field for field, since ``crd.py`` makes the CRDs from them; other modules
turn them into the compact values that the admission path reads.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt
from pydantic.alias_generators import to_camel

from policies.refusal import quoted

MAX_RAILS = 16
MAX_NETWORKS = 16
MAX_PARTITIONS = 16
MAX_ALT_NAMES = 16
MAX_LIST = 64
"""Bound on lists of capabilities, variables and tolerations: keeps CEL estimates in budget."""
PKEY_BITS = 0xFFFF
"""All sixteen bits of a PKey: the largest number that a field can hold."""


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


def _as_integer(value: object) -> object:
    """Return a whole number as an integer: JSON has one kind, ``1e3`` is ``1000``."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_as_integer)
"""For integers; stands behind their bounds, which are lost to the schema otherwise."""
DnsLabel = Annotated[str, Field(max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
DnsName = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
LABEL_KEY_PATTERN = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
"""Keys of labels and taints, with or without prefix (apimachinery ``IsQualifiedName``)."""
TAINT_KEY_PATTERN = rf"^({LABEL_KEY_PATTERN[1:-1]})?$"
"""As a label's key, or empty, which counts as absent."""
QualifiedName = Annotated[
    str,
    Field(
        max_length=316,
        pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
    ),
]
Capability = Annotated[
    str,
    Field(
        max_length=63,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="A Linux capability without the prefix CAP_, such as IPC_LOCK or NET_RAW.",
    ),
]
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
LabelValue = Annotated[
    str, Field(max_length=63, pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")
]
InterfaceName = Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[^\s/]+$")]
Positive = Annotated[StrictInt, Field(ge=1, le=1024), WHOLE]


def _distinct(items: tuple[str, ...]) -> tuple[str, ...]:
    """Return a set of texts, which the API server too takes only without doubles."""
    doubled = next((item for item in items if items.count(item) > 1), None)
    if doubled is not None:
        message = f"{quoted(doubled)} occurs twice"
        raise ValueError(message)
    return items


DISTINCT = AfterValidator(_distinct)
"""For lists of texts, in any order."""
CapabilitySet = Annotated[tuple[Capability, ...], Field(max_length=MAX_LIST), DISTINCT]


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
    """One environment variable with a literal value, as in a container's env."""

    name: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    """Name of the variable, such as NCCL_IB_SL; letters, digits and _. Unique in the list."""
    value: Annotated[str, Field(max_length=1024)] = ""
    """Its value as text, at most 1024 characters; quote numbers and words such as "1" and "on".
    Nothing in it is expanded: $(NAME) reaches the program as it stands here. Default: empty."""


class Capabilities(Shape):
    """Linux capabilities of equipped pods, in the shape of a container's securityContext."""

    add: CapabilitySet | None = None
    """Capabilities that equipped containers get; [] adds none. Absent in network and policy:
    IPC_LOCK, since RDMA pins memory. Only what the policy's podLimits.capabilities lists is added.
    """
    drop: CapabilitySet | None = None
    """Capabilities that every container of the pod loses, sidecars too, such as NET_RAW: containers
    of a pod share its network. Lists of network and policy are united. Default: none."""


class Toleration(Shape):
    """A toleration in the pod's own shape: on which tainted nodes the pod may run."""

    key: Annotated[str, Field(max_length=316, pattern=TAINT_KEY_PATTERN)] | None = None
    """Key of the taint, such as nvidia.com/gpu. Absent with operator Exists: every taint."""
    operator: Literal["Exists", "Equal"] | None = None
    """Exists: the taint may have any value. Equal (the default): its value is the one given."""
    value: LabelValue | None = None
    """Value of the taint, for operator Equal only. Default: empty."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint. Absent: every effect."""
    toleration_seconds: Annotated[StrictInt, WHOLE] | None = None
    """Seconds for which the pod stays on a node that gets the taint; for effect NoExecute only.
    Absent: for ever."""

    def as_pod_field(self) -> dict[str, Any]:
        """The toleration as it is written into a pod: only the keys that are set."""
        return self.model_dump(by_alias=True, exclude_none=True)


def _distinct_names(variables: tuple[EnvVar, ...]) -> tuple[EnvVar, ...]:
    _distinct(tuple(one.name for one in variables))
    return variables


EnvVars = Annotated[tuple[EnvVar, ...], Field(max_length=MAX_LIST), AfterValidator(_distinct_names)]


class PodDefaults(Shape):
    """What an equipped pod gets where it says nothing itself; each field in the pod's own shape."""

    capabilities: Capabilities | None = None
    """Linux capabilities to add to equipped containers and to drop in all containers. Default:
    IPC_LOCK is added, nothing is dropped."""
    shared_memory: Quantity | None = None
    """Size limit of the memory volume that equipped containers get at /dev/shm, in bytes, such as
    8Gi; it counts as the container's memory once written. 0: no volume. Default: 8Gi. Pods ask for
    another size with the annotation rdma.io/shm-size."""
    env: EnvVars = Field(default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["name"]})
    """Environment variables of equipped containers, used where the container does not set the name
    itself. Two field managers may own different variables. Default: none."""
    hugepages: Annotated[
        dict[
            str,
            Annotated[
                Quantity, Field(description="Bytes of huge pages of this size, such as 5120Mi.")
            ],
        ],
        Field(max_length=4),
    ] = Field(default_factory=dict)
    """Huge pages of each equipped container, bytes by page size, such as hugepages-2Mi: 5120Mi;
    they are mounted at /dev/hugepages. The amount is a multiple of the page size. Default: none."""
    node_selector: Annotated[
        dict[
            str,
            Annotated[
                LabelValue, Field(description="Value that the node's label of this key must have.")
            ],
        ],
        Field(max_length=MAX_LIST),
    ] = Field(default_factory=dict)
    """Labels of the nodes on which the network is, such as rdma: "true". A pod that asks for
    another value of the same label is refused, with both values. Default: any node."""
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=MAX_LIST)] = ()
    """Tolerations added to the pod, for tainted nodes. Lists of network and policy are united; the
    list has one owner. Default: none."""
