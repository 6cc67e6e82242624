"""One observation about an object, and all that its status says."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Status = Literal["True", "False", "Unknown"]


class Finding(msgspec.Struct, frozen=True):
    """A condition without the time at which it came about."""

    type: str
    status: Status
    reason: str
    """CamelCase."""
    message: str
    """One or two sentences, bounded; tenants read it."""


class Standing(msgspec.Struct, frozen=True):
    """What the status of an object says."""

    findings: tuple[Finding, ...] = ()
    fields: Mapping[str, Any] = {}
    """Further fields of the status, as JSON: ``isolation``, ``counts``, ``phase``."""


def yes(kind: str, reason: str, message: str) -> Finding:
    """Return the observation that something is so."""
    return Finding(kind, "True", reason, message)


def no(kind: str, reason: str, message: str) -> Finding:
    """Return the observation that something is not so."""
    return Finding(kind, "False", reason, message)


def unknown(kind: str, reason: str, message: str) -> Finding:
    """Return the observation that nobody can tell."""
    return Finding(kind, "Unknown", reason, message)


def unreadable(kind: str, problem: str, *, is_kept: bool) -> Finding:
    """Return the observation that this version cannot read an object.

    Args:
        kind: Type of the condition that is then False.
        problem: The sentence of the parser.
        is_kept: Whether an earlier version of the object is still in use.
    """
    still = "; the version before still counts" if is_kept else ""
    return no(kind, "Unreadable", f"{problem}{still}")
