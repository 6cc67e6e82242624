"""``Settings``: everything the process was told, read once and handed down as plain values."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from policies.rules import Rules
from webhook.settings.errors import BadSetting
from webhook.settings.reading import add_flags, read
from webhook.settings.table import RULE_SETTINGS, SERVE_SETTINGS, SOURCE_SETTINGS
from webhook.settings.values import Address

__all__ = [
    "RULE_SETTINGS",
    "SERVE_SETTINGS",
    "SOURCE_SETTINGS",
    "Address",
    "Settings",
    "add_flags",
    "read",
    "read_rules",
    "read_settings",
]

RULE_FIELDS = tuple(setting.field for setting in RULE_SETTINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What ``serve`` was told.

    Attributes:
        listen: Where reviews are answered.
        probe_listen: Where probes and metrics are answered.
        tls_cert_file: Serving certificate; None = generated.
        tls_private_key_file: Its key; None exactly where ``tls_cert_file`` is.
        ca_file: Where the generated authority's certificate is written.
        folder: Objects come from here, not from a cluster.
        kubeconfig: How to reach the cluster; None = as a pod of it. None where ``folder`` is set.
        namespace: Our own.
        service_name: Of the Service in front of us.
        log_level: debug, info, warning or error.
        max_staleness: Silence of a kind that makes us not ready.
        max_in_flight: Requests handled at a time.
        drain: Time between SIGTERM and the end.
        rules: What the core needs.
    """

    listen: Address
    probe_listen: Address
    tls_cert_file: Path | None
    tls_private_key_file: Path | None
    ca_file: Path | None
    folder: Path | None
    kubeconfig: Path | None
    namespace: str
    service_name: str
    log_level: str
    max_staleness: timedelta
    max_in_flight: int
    drain: timedelta
    rules: Rules


def read_settings(flags: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """Return the settings of ``serve``.

    Args:
        flags: From a parser with ``add_flags(parser, SERVE_SETTINGS)``.
        environment: Variables of the process.

    Raises:
        BadSetting: A value cannot be used, or two contradict each other.
    """
    found: dict[str, Any] = read(SERVE_SETTINGS, flags, environment)
    rules = Rules(**{field: found.pop(field) for field in RULE_FIELDS})
    settings = Settings(**found, rules=rules)
    _check(settings)
    return settings


def read_rules(flags: argparse.Namespace, environment: Mapping[str, str]) -> Rules:
    """Return the core's settings, from a parser with ``add_flags(parser, RULE_SETTINGS)``.

    Raises:
        BadSetting: A value cannot be used.
    """
    found: dict[str, Any] = read(RULE_SETTINGS, flags, environment)
    return Rules(**found)


def _check(settings: Settings) -> None:
    if (settings.tls_cert_file is None) != (settings.tls_private_key_file is None):
        raise BadSetting(
            "--tls-cert-file, --tls-private-key-file: got one of them, want both or neither"
        )
    if settings.ca_file and settings.tls_cert_file:
        raise BadSetting(
            "--ca-file: got a path and --tls-cert-file, want one of them: "
            "only a generated certificate has a CA bundle to write"
        )
    if settings.folder and settings.kubeconfig:
        raise BadSetting("--from, --kubeconfig: got both, want one source of objects")
