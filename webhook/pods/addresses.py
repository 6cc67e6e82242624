"""Values of a network selection element, checked as Multus checks them before a sandbox starts.

Source: Multus ``pkg/types/types.go`` (NetworkSelectionElement) and ``parsePodNetworkAnnotation``;
Go's ``net.ParseIP``, ``net.ParseCIDR`` and ``net.ParseMAC``.
"""

import re
from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_interface
from typing import Any, Final

_MAC = re.compile(
    r"[0-9a-fA-F]{2}(?P<sep>[:-])[0-9a-fA-F]{2}(?:(?P=sep)[0-9a-fA-F]{2})*"
    r"|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+"
)
_MAC_BYTES = frozenset({6, 8, 20})
_GUID_BYTES = 8
_PREFIX_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}")


def is_address(value: Any) -> bool:  # noqa: ANN401 JSON is anything
    """Whether a value is an IP address, with or without a prefix length."""
    if not isinstance(value, str) or "%" in value:
        return False
    _, slash, length = value.partition("/")
    try:
        if slash:
            ip_interface(value)
            return bool(_PREFIX_LENGTH.fullmatch(length))
        ip_address(value)
    except ValueError:
        return False
    return True


def mac_bytes(value: Any) -> int:  # noqa: ANN401
    """Return the length in bytes of a hardware address, 0 where the value is none."""
    if not isinstance(value, str) or not _MAC.fullmatch(value):
        return 0
    length = len(re.sub(r"[^0-9a-fA-F]", "", value)) // 2
    return length if length in _MAC_BYTES else 0


def _are_addresses(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, list) and all(is_address(item) for item in value)


def _are_gateways(value: Any) -> bool:  # noqa: ANN401
    return _are_addresses(value) and not any("/" in item for item in value)


CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "ips": _are_addresses,
    "mac": lambda value: value == "" or mac_bytes(value) > 0,
    "infiniband-guid": lambda value: value == "" or mac_bytes(value) == _GUID_BYTES,
    "default-route": _are_gateways,
    "portMappings": lambda value: (
        isinstance(value, list) and all(isinstance(item, dict) for item in value)
    ),
    "bandwidth": lambda value: isinstance(value, dict),
    "cni-args": lambda value: isinstance(value, dict),
    "deviceID": lambda value: isinstance(value, str),
}
"""For each key that Multus knows, whether it takes a value (never called with null)."""
