"""What the Pod Security admission of a namespace will say to what we add.

Source: kubernetes/pod-security-admission ``policy/check_capabilities_baseline.go``,
``check_capabilities_restricted.go``, ``check_hostNamespaces.go``.
"""

from collections.abc import Mapping

from policies.names import POD_SECURITY_ENFORCE

_BASELINE = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"}
    | {"NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)
_ALLOWED = {"baseline": _BASELINE, "restricted": frozenset({"NET_BIND_SERVICE"})}


def level(labels: Mapping[str, str]) -> str:
    """Return the enforced level that restricts pods: baseline or restricted; else empty."""
    found = labels.get(POD_SECURITY_ENFORCE, "")
    return found if found in _ALLOWED else ""


def forbidden(enforced: str, capabilities: tuple[str, ...]) -> tuple[str, ...]:
    """Return those capabilities that a level does not let containers add."""
    if not enforced:
        return ()
    allowed = _ALLOWED[enforced]
    return tuple(one for one in capabilities if one not in allowed)
