"""What the Pod Security admission of a namespace will say to what we add."""

import pytest

from policies.podsecurity import forbidden, level

ENFORCE = "pod-security.kubernetes.io/enforce"


@pytest.mark.parametrize(
    ("labels", "enforced"),
    [
        ({}, ""),
        ({ENFORCE: "privileged"}, ""),
        ({ENFORCE: "baseline"}, "baseline"),
        ({ENFORCE: "restricted"}, "restricted"),
        ({ENFORCE: "Baseline"}, ""),
        ({"pod-security.kubernetes.io/warn": "restricted"}, ""),
    ],
)
def test_only_an_enforced_level_restricts(labels: dict[str, str], enforced: str) -> None:
    """Warn and audit levels refuse nothing, and neither does privileged."""
    assert level(labels) == enforced


@pytest.mark.parametrize(
    ("enforced", "names"),
    [
        ("", ()),
        ("baseline", ("IPC_LOCK",)),
        ("restricted", ("IPC_LOCK", "CHOWN")),
    ],
)
def test_a_level_forbids_capabilities(enforced: str, names: tuple[str, ...]) -> None:
    """IPC_LOCK is in no level's list; restricted knows NET_BIND_SERVICE alone."""
    assert forbidden(enforced, ("IPC_LOCK", "CHOWN", "NET_BIND_SERVICE")) == names
