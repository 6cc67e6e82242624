"""Each change to a pod with the reason for it, in words.

Knows the closed set of edits and where their values come from; decides nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from policies.intent import Intent
from policies.names import (
    ANNOTATION_NCCL_CONF,
    ANNOTATION_SHM_SIZE,
    SELECTION_ANNOTATION,
)
from policies.refusal import cleaned
from policies.select import Applicable
from webhook.admission.plan import plan
from webhook.injectors import hugepages, volumes
from webhook.pods import patch
from webhook.pods import pod as pods
from webhook.pods.edits import (
    AddCapability,
    AddVolume,
    DropCapability,
    Edit,
    MountVolume,
    RequestResource,
    SelectNode,
    SetAnnotation,
    SetEnv,
    SetSpecField,
    Tolerate,
)
from webhook.pods.pod import Place, Pod

SHM = "/dev/shm"  # noqa: S108 the path in the container is the point
LONGEST_NAME = 63
"""Of a container, in characters: a DNS label."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Attributes:
        what: Where and what.
        why: Because of what.
    """

    what: str
    why: str


def explained(pod: Pod, applicable: Applicable, intent: Intent) -> tuple[Change, ...]:
    """Return the changes that the engine makes to a pod, in its order.

    Args:
        pod: As it arrived; partially decoded.
        applicable: What the policy grants it.
        intent: What it receives.
    """
    edits, _ = plan(pod, intent)
    reasons = _Reasons(applicable, intent)
    return tuple(
        Change(_what(edit, pod), reasons.why(edit)) for edit in edits if patch.render([edit], pod)
    )


def _what(edit: Edit, pod: Pod) -> str:
    match edit:
        case SetAnnotation(key=key):
            return f"annotation {key}"
        case SetSpecField(field=field, value=value):
            return f"spec.{field} = {_shown(value)}"
        case SelectNode(key=key, value=text):
            return f"nodeSelector {key}={text}"
        case Tolerate(toleration=toleration):
            return f"toleration {', '.join(f'{k}={v}' for k, v in toleration.items())}"
        case AddVolume(name=name, source=source):
            return f"volume {name} ({', '.join(source)})"
        case _:
            return f"{_container(pod, edit.place)}: {_in_container(edit)}"


def _in_container(
    edit: RequestResource | SetEnv | MountVolume | AddCapability | DropCapability,
) -> str:
    match edit:
        case RequestResource():
            return f"{edit.resource} = {edit.quantity}"
        case SetEnv():
            return f"env {edit.name}={edit.value}"
        case MountVolume():
            return f"mount {edit.mount.get('mountPath')}"
        case AddCapability():
            return f"capability +{edit.name}"
        case DropCapability():
            return f"capability -{edit.name}"
        case _:
            assert_never(edit)


def _container(pod: Pod, place: Place) -> str:
    written = cleaned(pods.container_at(pod, place).get("name", ""), LONGEST_NAME)
    name = written or f"{place[0]}[{place[1]}]"
    return name if place[0] == "containers" else f"{name} (init)"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Reasons:
    """Where each value comes from."""

    def __init__(self, applicable: Applicable, intent: Intent) -> None:
        self._applicable = applicable
        self._intent = intent
        self._offers = [one.offer for one in applicable.orders]
        self._networks = ", ".join(intent.networks)

    def why(self, edit: Edit) -> str:
        """Return the reason for an edit."""
        match edit:
            case SetAnnotation():
                return self._annotation(edit.key)
            case AddVolume() | MountVolume():
                return self._volume(edit)
            case SetSpecField():
                return f"network {self._networks} is on the host's network"
            case SelectNode() | Tolerate():
                return f"podDefaults of network {self._networks} or of the policy"
            case _:
                return self._in_container(edit)

    def _in_container(self, edit: RequestResource | SetEnv | AddCapability | DropCapability) -> str:
        match edit:
            case RequestResource():
                return self._resource(edit.resource)
            case SetEnv():
                return self._env(edit)
            case AddCapability():
                return f"RDMA pins memory; {self._capability(edit.name)}"
            case DropCapability():
                return self._drop(edit.name)
            case _:
                assert_never(edit)

    def _annotation(self, key: str) -> str:
        if key == SELECTION_ANNOTATION:
            added = [one for one in self._intent.attachments if not one.selected]
            shown = ", ".join(f"{one.interface} on {one.network}/{one.rail}" for one in added)
            return f"Multus attaches {shown}"
        if key == ANNOTATION_NCCL_CONF:
            return "NCCL defaults that lose to the environment of its processes"
        return "for people: what shaped this pod; no check reads it"

    def _resource(self, resource: str) -> str:
        if resource.startswith("hugepages-"):
            return f"podDefaults.hugepages of {self._networks}"
        rails = [
            f"{offer.network}/{lane.rail}"
            for offer in self._offers
            for lane in offer.lanes
            if lane.resource == resource
        ]
        return f"device of {', '.join(rails)}" if rails else "devices selected by hand"

    def _env(self, edit: SetEnv) -> str:
        if edit.replaces:
            return f"podLimits.env of {self._applicable.tenancy.title}"
        if edit.name in dict(self._applicable.tenancy.defaults.env):
            return f"podDefaults.env of {self._applicable.tenancy.title}"
        for offer in self._offers:
            if edit.name in dict(offer.defaults.env):
                return f"podDefaults.env of network {offer.network}"
        return "default of the webhook"

    def _volume(self, edit: AddVolume | MountVolume) -> str:
        name = edit.name if isinstance(edit, AddVolume) else str(edit.mount.get("name"))
        if name.startswith(volumes.VOLUME):
            return self._shared_memory()
        if name.startswith(hugepages.VOLUME):
            return f"podDefaults.hugepages of {self._networks}"
        if isinstance(edit, MountVolume) and edit.mount.get("mountPath") == SHM:
            return self._shared_memory()
        if self._applicable.subject.is_mpi_worker:
            return "NCCL defaults in a file: sshd hands its ranks no environment"
        return "NCCL defaults in a file: in env they would override the container's envFrom"

    def _shared_memory(self) -> str:
        if self._applicable.wish.shm_size:
            return f"shared memory of the size in {ANNOTATION_SHM_SIZE}"
        size = self._intent.shared_memory
        if self._applicable.tenancy.defaults.shared_memory == size:
            return f"shared memory, podDefaults.sharedMemory of {self._applicable.tenancy.title}"
        for offer in self._offers:
            if offer.defaults.shared_memory == size:
                return f"shared memory, podDefaults.sharedMemory of network {offer.network}"
        if self._applicable.tenancy.limits.shared_memory == size:
            return f"shared memory, bounded by podLimits of {self._applicable.tenancy.title}"
        return "shared memory, since a container has 64 MiB by default"

    def _capability(self, name: str) -> str:
        if name in (self._applicable.tenancy.defaults.add or ()):
            return f"podDefaults of {self._applicable.tenancy.title}"
        sources = [one.network for one in self._offers if name in (one.defaults.add or ())]
        return f"podDefaults of network {', '.join(sources)}" if sources else "the default"

    def _drop(self, name: str) -> str:
        if name in self._applicable.tenancy.limits.required_drop:
            return f"requiredDrop of {self._applicable.tenancy.title}"
        return f"podDefaults of {self._networks}"


def lines(found: tuple[Change, ...]) -> Iterator[tuple[str, str]]:
    """Yield what and why of each change, the same ones of several containers not repeated."""
    for one in dict.fromkeys(found):
        yield one.what, one.why
