"""What the ``status`` of our kinds says. Output for people and tools: no check ever reads it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StrictInt
from pydantic.config import JsonDict

from policies.shapes import Isolation, Shape

MAX_CONDITIONS = 16


class Condition(Shape):
    """One observation, in the shape of Kubernetes' own conditions."""

    type: Annotated[str, Field(max_length=316, pattern=r"^[A-Z][A-Za-z]*$")]
    """What is observed, in CamelCase, such as Accepted or Ready; unique in the list."""
    status: Literal["True", "False", "Unknown"]
    """Whether it is so: True, False or Unknown."""
    observed_generation: Annotated[StrictInt, Field(ge=0)] | None = None
    """metadata.generation of the object that was looked at; below the object's own, the condition
    is out of date. Default: not known."""
    last_transition_time: Annotated[
        str, Field(max_length=64, json_schema_extra={"format": "date-time"})
    ]
    """When the status last changed, such as 2026-01-31T12:00:00Z."""
    reason: Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
    """Why, as one CamelCase word for programs, such as UnknownNetwork."""
    message: Annotated[str, Field(max_length=32768)] = ""
    """Why, as a sentence for people, with what to do. Default: empty."""


Conditions = Annotated[tuple[Condition, ...], Field(max_length=MAX_CONDITIONS)]
_BY_TYPE: JsonDict = {"x-kubernetes-list-map-keys": ["type"]}


class NetworkStatus(Shape):
    """What is known of a network; written by the controller, read by no check."""

    isolation: Isolation | None = None
    """How far the fabric keeps tenants of this network apart: None, Soft or Hard. Absent: not yet
    known."""
    conditions: Conditions = Field(default=(), json_schema_extra=_BY_TYPE)
    """Accepted: the network can be used. ResourcesAdvertised: some node has its resources."""


class PolicyCounts(Shape):
    """How much a policy holds; numbers, never long lists."""

    networks: Annotated[StrictInt, Field(ge=0)] | None = None
    """Granted networks that exist. Absent: not yet counted."""
    partitions: Annotated[StrictInt, Field(ge=0)] | None = None
    """Partitions that are bound to this tenant. Absent: not yet counted."""
    outdated_pods: Annotated[StrictInt, Field(ge=0)] | None = None
    """Running pods that were admitted under an earlier generation and would differ now; none is
    evicted. Absent: not yet counted."""


class PolicyStatus(Shape):
    """What is known of a policy; written by the controller, read by no check."""

    conditions: Conditions = Field(default=(), json_schema_extra=_BY_TYPE)
    """Ready: pods are equipped. PartitionConflict: a number belongs to another tenant.
    UnknownNetwork: a network named here is not there. Outdated: pods run under an earlier
    generation."""
    counts: PolicyCounts | None = None
    """How much the policy holds. Absent: not yet counted."""


class Phase(StrEnum):
    """Where a partition is in its life."""

    BOUND = "Bound"
    DRAINING = "Draining"


class PartitionStatus(Shape):
    """What is known of a partition; written by the controller, read by no check."""

    phase: Phase | None = None
    """Bound: the tenant holds the number. Draining: it is no longer granted, and pods may still be
    in it, so nobody else gets it yet. Absent: not yet looked at."""
    conditions: Conditions = Field(default=(), json_schema_extra=_BY_TYPE)
    """Accepted: the number is held for the tenant; where it is not, the message says why."""
