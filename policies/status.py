"""What the ``status`` of our kinds says. Output for people and tools: no check ever reads it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StrictInt

from policies.shapes import Isolation, Shape

MAX_CONDITIONS = 16


class Condition(Shape):
    """One observation, as in ``meta/v1`` Condition."""

    type: Annotated[str, Field(max_length=316, pattern=r"^[A-Z][A-Za-z]*$")]
    """What is observed, in CamelCase."""
    status: Literal["True", "False", "Unknown"]
    """Whether it is so."""
    observed_generation: Annotated[StrictInt, Field(ge=0)] | None = None
    """Generation of the object that was looked at."""
    last_transition_time: Annotated[
        str, Field(max_length=64, json_schema_extra={"format": "date-time"})
    ]
    """When the status last changed."""
    reason: Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
    """Why, in one CamelCase word."""
    message: Annotated[str, Field(max_length=32768)] = ""
    """Why, in a sentence for people."""


Conditions = Annotated[tuple[Condition, ...], Field(max_length=MAX_CONDITIONS)]


class NetworkStatus(Shape):
    """What is known of a network."""

    isolation: Isolation | None = None
    """How far the fabric keeps tenants of this network apart."""
    conditions: Conditions = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["type"]}
    )
    """Accepted and ResourcesAdvertised."""


class PolicyCounts(Shape):
    """How much a policy holds; numbers, never long lists."""

    networks: Annotated[StrictInt, Field(ge=0)] | None = None
    """Granted networks that exist."""
    partitions: Annotated[StrictInt, Field(ge=0)] | None = None
    """Partitions that are bound to this tenant."""
    outdated_pods: Annotated[StrictInt, Field(ge=0)] | None = None
    """Running pods that were admitted under an earlier generation and would differ now."""


class PolicyStatus(Shape):
    """What is known of a policy."""

    conditions: Conditions = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["type"]}
    )
    """Ready, PartitionConflict, UnknownNetwork and Outdated."""
    counts: PolicyCounts | None = None
    """How much the policy holds."""


class Phase(StrEnum):
    """Where a partition is in its life."""

    BOUND = "Bound"
    DRAINING = "Draining"


class PartitionStatus(Shape):
    """What is known of a partition."""

    phase: Phase | None = None
    """Bound, or Draining: no longer granted, and some pod may still be in it."""
    conditions: Conditions = Field(
        default=(), json_schema_extra={"x-kubernetes-list-map-keys": ["type"]}
    )
    """Accepted."""
