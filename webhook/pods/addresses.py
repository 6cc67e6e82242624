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
_INT_LIMIT = 1 << 63
"""One above the largest number that Go's ``int`` holds."""
_Fields = Mapping[str, Callable[[Any], bool]]
"""Keys in lower case, and whether Go takes a value for the field."""
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


def is_ipv4(address: str) -> bool:
    """Whether Go takes an address for one of IPv4: also ``::ffff:10.0.0.1`` (``net.IP.To4``)."""
    found = ip_address(address)
    return found.version == 4 or found.ipv4_mapped is not None  # noqa: PLR2004 of IP


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


def _is_int(value: Any) -> bool:  # noqa: ANN401
    return type(value) is int and -_INT_LIMIT <= value < _INT_LIMIT


def _is_text(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, str)


_PORT_MAPPING: Final[_Fields] = {
    "hostport": _is_int,
    "containerport": _is_int,
    "protocol": _is_text,
    "hostip": _is_text,
}
_BANDWIDTH: Final[_Fields] = dict.fromkeys(
    ("ingressrate", "ingressburst", "egressrate", "egressburst"), _is_int
)


def _fits(value: Any, fields: _Fields) -> bool:  # noqa: ANN401
    """Whether Go decodes a value into a struct of some fields, keys in any letter case."""
    return isinstance(value, dict) and all(
        item is None or fields[key.casefold()](item)
        for key, item in value.items()
        if key.casefold() in fields
    )


CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "ips": _are_addresses,
    "mac": lambda value: value == "" or mac_bytes(value) > 0,
    "infiniband-guid": lambda value: value == "" or mac_bytes(value) == _GUID_BYTES,
    "default-route": _are_gateways,
    "portMappings": lambda value: (
        isinstance(value, list) and all(_fits(item, _PORT_MAPPING) for item in value)
    ),
    "bandwidth": lambda value: _fits(value, _BANDWIDTH),
    "cni-args": lambda value: isinstance(value, dict),
    "deviceID": _is_text,
}
"""For each key that Multus knows, whether it takes a value (never called with null)."""
