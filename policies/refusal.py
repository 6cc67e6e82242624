"""Refusals and notices as values: every reason there is, with its HTTP code, once.

``docs/reasons.md`` documents each; a test keeps the two equal.
"""

from enum import StrEnum

import msgspec

_LONGEST_QUOTE = 63


class Reason(StrEnum):
    """Why a pod or an object of ours is refused.

    422: it cannot mean what it says. 403: the policy, or what the platform has set up, says no.
    """

    NETWORK_INVALID = "NetworkAnnotationInvalid"
    ANNOTATION_UNKNOWN = "UnknownAnnotation"
    ANNOTATION_INERT = "AnnotationWithoutEffect"
    COUNT_OUT_OF_RANGE = "CountOutOfRange"
    CONTAINERS_INVALID = "ContainersAnnotationInvalid"
    CONTAINERS_AMBIGUOUS = "ContainersAmbiguous"
    CONTAINERS_EXCLUDED = "ContainersExcluded"
    ACCELERATOR_MISSING = "AcceleratorMissing"
    RESOURCE_INVALID = "ResourceQuantityInvalid"
    SHM_SIZE_INVALID = "ShmSizeInvalid"
    PARTITION_INVALID = "PartitionAnnotationInvalid"
    PARTITION_AMBIGUOUS = "PartitionAmbiguous"
    POD_TOO_LARGE = "PodTooLarge"
    SELECTION_INVALID = "NetworkSelectionInvalid"
    HOST_NETWORK_CONFLICT = "HostNetworkConflict"
    WINDOWS_POD = "WindowsPod"
    PLACEMENT_CONFLICT = "PlacementConflict"
    HUGEPAGES_CONFLICT = "HugepagesConflict"
    PARTITION_NUMBER_INVALID = "PartitionNumberInvalid"

    POLICY_NOT_READY = "PolicyNotReady"
    NETWORK_NOT_GRANTED = "NetworkNotGranted"
    NETWORK_NOT_READY = "NetworkNotReady"
    MODE_NOT_SUPPORTED = "ModeNotSupported"
    PARTITION_NOT_GRANTED = "PartitionNotGranted"
    PARTITION_CONFLICT = "PartitionConflict"
    ATTACHMENT_INVALID = "NetworkAttachmentInvalid"
    SELECTION_NOT_FOUND = "NetworkAttachmentNotFound"
    ATTACHMENTS_OVER_LIMIT = "AttachmentsOverLimit"
    ISOLATION_TOO_WEAK = "IsolationTooWeak"
    SHARED_MEMORY_OVER_LIMIT = "SharedMemoryOverLimit"
    POD_SECURITY_CONFLICT = "PodSecurityConflict"
    RAW_NETWORK_DENIED = "RawNetworkDenied"
    FOREIGN_NETWORK_DENIED = "ForeignNetworkDenied"
    SELECTION_KEY_DENIED = "SelectionKeyDenied"
    PRIVILEGE_DENIED = "PrivilegeDenied"
    CAPABILITY_DENIED = "CapabilityDenied"
    RESOURCE_DENIED = "GovernedResourceDenied"
    NETWORK_IN_USE = "NetworkInUse"

    @property
    def code(self) -> int:
        """HTTP code of the refusal: 422 or 403."""
        return 403 if self in _FORBIDDEN else 422


_ALL = tuple(Reason)
_FORBIDDEN = frozenset(_ALL[_ALL.index(Reason.POLICY_NOT_READY) :])


class Refusal(msgspec.Struct, frozen=True):
    """What is refused and why: one sentence of what, where, why and who can fix it."""

    reason: Reason
    message: str
    short: str = ""
    """What of it fits a warning, where the policy does not enforce it: at most 80 characters."""
    cause: str = ""
    """CamelCase word for the policy's condition, where the reason says too little."""


class Pending(msgspec.Struct, frozen=True):
    """A fact is missing that may arrive within a moment; `refusal` is the answer if it does not."""

    kind: str
    namespace: str
    name: str
    refusal: Refusal


class Notice(msgspec.Struct, frozen=True):
    """Something that the author of what is admitted should know; the lower rank speaks first."""

    text: str
    rank: int = 5
    not_enforced: str = ""
    """Reason of the refusal that this would be at Enforce; empty for mere advice."""
    is_silent: bool = False
    """Whether only the audit log is told (enforcement Audit)."""


def quoted(value: str) -> str:
    """Return text of a user as it may stand in a message: short, printable, in double quotes."""
    return f'"{cleaned(value, _LONGEST_QUOTE)}"'


MAX_MESSAGE = 1000
"""Longest message of a refusal in characters."""


def cleaned(text: str, most: int = MAX_MESSAGE) -> str:
    """Return text as it may reach a terminal or a log: printable, with a bound."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    return (
        short if short.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in short)
    )


def listed(names: tuple[str, ...] | list[str], most: int = 8) -> str:
    """Return names as a short list for a message, the rest as a number."""
    if not names:
        return "none"
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
