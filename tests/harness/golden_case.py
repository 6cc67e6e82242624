"""The shape of a golden case's file; ``tests/golden/README.md`` describes it for people."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Object = dict[str, Any]


class Strict(BaseModel):
    """A part of a golden file; an unknown key is a mistake of its author."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(Strict):
    """One readable claim on the resulting pod: a JSON pointer, and its value or its absence."""

    path: str
    equals: Any = None
    absent: bool = False


class Excerpt(Strict):
    """A pod, or the template of one, inside a file of the repository."""

    file: str
    at: str = ""
    """JSON pointer of the pod template; empty means that the document is the pod."""


class Request(Strict):
    """Fields of the AdmissionRequest that differ from a plain CREATE of a pod."""

    model_config = ConfigDict(alias_generator=to_camel)

    namespace: str | None = None
    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"] = "CREATE"
    sub_resource: str | None = None
    dry_run: bool = False
    user_info: Object = {"username": "alice", "groups": ["system:authenticated"]}
    old_object: Object | None = None


class Given(Strict):
    """What the webhook knows and what it is asked."""

    cluster: str | None = None
    """A file of ``tests/golden/clusters``, without its ending."""
    objects: tuple[Object, ...] = ()
    """Further objects, or others in place of the cluster's."""
    merge: dict[str, Object | None] = {}
    """``Kind/namespace/name`` or ``Kind/name`` to a JSON merge patch; null takes it away."""
    rules: Object = {}
    request: Request = Request()
    pod: Object | None = None
    pod_from: Excerpt | None = None
    unknown_fields: bool = False
    """The pod carries fields that this Kubernetes version does not know."""


class Expect(Strict):
    """What the author of the case wants to happen."""

    verdict: Literal["Unchanged", "Patched", "Denied"]
    waits: str | None = None
    """``Kind/namespace/name`` of the fact that is waited for before the verdict is sent."""
    code: int | None = None
    reason: str | None = None
    message_has: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    also: tuple[Claim, ...] = ()
    patch: tuple[Object, ...] = ()


class Case(Strict):
    """One golden case."""

    why: str
    source: str | None = None
    given: Given
    expect: Expect


class Outcome(Strict):
    """What the engine answered, decoded."""

    verdict: str
    waits: str | None
    code: int | None
    reason: str | None
    message: str
    warnings: tuple[str, ...]
    patch: tuple[Object, ...]
