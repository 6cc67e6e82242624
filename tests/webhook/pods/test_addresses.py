"""Values of a selection element, as Multus and Go take them."""

from typing import Any

import pytest

from webhook.pods import addresses

GUID = "02:00:00:00:00:00:00:11"


@pytest.mark.parametrize(
    "value",
    ["10.0.0.1", "10.0.0.1/24", "0.0.0.0/0", "fe80::1", "fe80::1/64", "::ffff:10.0.0.1"],
)
def test_an_address_with_or_without_a_length(value: str) -> None:
    """What Go parses as an IP or as a CIDR is an address."""
    assert addresses.is_address(value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("10.0.0.300", id="an octet is too large"),
        pytest.param("10.0.0.01", id="an octet has a leading zero"),
        pytest.param("10.0.0.1/33", id="the length is too large"),
        pytest.param("10.0.0.1/024", id="the length has a leading zero"),
        pytest.param("10.0.0.1/255.255.255.0", id="the length is a mask"),
        pytest.param("10.0.0.1/", id="the length is empty"),
        pytest.param("fe80::1%eth0", id="it has a zone"),
        pytest.param("", id="it is empty"),
        pytest.param("host", id="it is a name"),
        pytest.param(167772161, id="it is a number"),
        pytest.param(None, id="it is null"),
    ],
)
def test_what_is_no_address(value: object) -> None:
    """Python's own parser takes some of these; Go takes none."""
    assert not addresses.is_address(value)


@pytest.mark.parametrize(
    ("value", "length"),
    [
        ("02:00:00:00:00:01", 6),
        ("02-00-00-00-00-01", 6),
        ("0200.0000.0001", 6),
        (GUID, 8),
        ("00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01", 20),
        pytest.param("02:00:00:00:00", 0, id="five bytes are too few"),
        pytest.param("02:00-00:00:00:01", 0, id="separators are mixed"),
        pytest.param("020000000001", 0, id="there are no separators"),
        pytest.param("zz", 0, id="it is no number"),
        pytest.param(2, 0, id="it is no text"),
    ],
)
def test_the_length_of_a_hardware_address(value: object, length: int) -> None:
    """Go takes addresses of 6, 8 and 20 bytes in three spellings."""
    assert addresses.mac_bytes(value) == length


@pytest.mark.parametrize(
    ("value", "is_v4"),
    [("10.0.0.1", True), ("::ffff:10.0.0.1", True), ("fe80::1", False), ("::10.0.0.1", False)],
)
def test_the_family_is_the_one_that_go_sees(value: str, *, is_v4: bool) -> None:
    """An IPv4 address in IPv6 spelling is one of IPv4."""
    assert addresses.is_ipv4(value) is is_v4


TAKEN: list[tuple[str, Any]] = [
    ("ips", []),
    ("ips", ["10.0.0.1/24", "fe80::1"]),
    ("mac", ""),
    ("mac", "02:00:00:00:00:01"),
    ("infiniband-guid", ""),
    ("infiniband-guid", GUID),
    ("default-route", ["10.0.0.1"]),
    ("portMappings", []),
    ("portMappings", [{"hostPort": 80, "containerPort": -0, "protocol": "tcp", "hostIP": None}]),
    ("portMappings", [{"hostport": 80, "other": [1]}]),
    ("bandwidth", {"ingressRate": 1, "egressBurst": -(2**63), "other": "x"}),
    ("cni-args", {"any": {"thing": [1]}}),
    ("deviceID", "0000:17:00.0"),
]
REFUSED: list[tuple[str, Any]] = [
    ("ips", "10.0.0.1/24"),
    ("ips", [None]),
    ("ips", ["10.0.0.300"]),
    ("mac", "02"),
    ("mac", 2),
    ("infiniband-guid", "02:00:00:00:00:11"),
    ("default-route", ["10.0.0.1/24"]),
    ("default-route", "10.0.0.1"),
    ("portMappings", {}),
    ("portMappings", [None]),
    ("portMappings", [{"hostPort": "80"}]),
    ("portMappings", [{"HOSTPORT": 80.5}]),
    ("portMappings", [{"hostPort": True}]),
    ("portMappings", [{"hostPort": 2**63}]),
    ("portMappings", [{"protocol": 6}]),
    ("bandwidth", []),
    ("bandwidth", {"ingressrate": "1"}),
    ("cni-args", []),
    ("deviceID", 17),
]


@pytest.mark.parametrize(("key", "value"), TAKEN)
def test_a_value_that_multus_takes(key: str, value: object) -> None:
    """A value that Multus decodes passes."""
    assert addresses.CHECKS[key](value)


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_a_value_that_multus_refuses(key: str, value: object) -> None:
    """A value that would fail the pod's sandbox is refused while it can still be said."""
    assert not addresses.CHECKS[key](value)
