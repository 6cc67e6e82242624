"""Text to value, one function a kind of setting. Pure.

Each raises ValueError whose text ends the sentence "got X, want …".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
MAX_PORT = 65535
EVERY_INTERFACE = "0.0.0.0"  # noqa: S104 - API servers call from other machines


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen.

    Attributes:
        host: A name or IP address; ``0.0.0.0`` = every interface, ``::`` = every one by IPv6.
        port: 0 = any free port.
    """

    host: str
    port: int

    def __str__(self) -> str:
        """Return HOST:PORT, IPv6 in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address(text: str) -> Address:
    """Return the address written as HOST:PORT, [IPv6]:PORT, or :PORT for every interface."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    digits = port.isascii() and port.isdigit()
    is_named = bool(bare) or not host
    is_bare_ipv6 = ":" in bare and bare == host
    if is_bare_ipv6 or not (is_named and colon and digits and int(port) <= MAX_PORT):
        raise ValueError("HOST:PORT such as 0.0.0.0:8443 or [::1]:8443, port 0 for any")
    return Address(bare or EVERY_INTERFACE, int(port))


def duration(text: str) -> timedelta:
    """Return the duration written as numbers with units, such as 90s, 10m or 1h30m."""
    parts = DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("a duration such as 90s, 10m or 1h30m")
    return timedelta(seconds=sum(float(number) * UNITS[unit] for number, unit in parts))


def seconds(text: str) -> timedelta:
    """Return the duration written as a plain number of seconds, 0 or more."""
    if not re.fullmatch(r"\d{1,6}(\.\d+)?", text):
        raise ValueError("a number of seconds, 0 or more")
    return timedelta(seconds=float(text))


def count(text: str) -> int:
    """Return the whole number from 1 to 100000."""
    if not re.fullmatch(r"[1-9]\d{0,4}|100000", text):
        raise ValueError("a whole number from 1 to 100000")
    return int(text)


def path(text: str) -> Path:
    """Return the path; nothing is looked at."""
    if not text:
        raise ValueError("a path")
    return Path(text)


def folder(text: str) -> Path:
    """Return the path of a folder that exists."""
    if not text or not Path(text).is_dir():
        raise ValueError("the path of a folder that exists")
    return Path(text)


def dns_label(text: str) -> str:
    """Return the text where it is a DNS label, as names of namespaces and Services are."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", text):
        raise ValueError("lower-case letters, digits and dashes, at most 63")
    return text


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser that accepts these words, in any letter case."""
    known = {choice.lower(): choice for choice in choices}

    def parse(text: str) -> str:
        if text.lower() not in known:
            raise ValueError(f"one of {', '.join(choices)}")
        return known[text.lower()]

    return parse


def list_over(default: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return a parser for a comma list: the whole list, or ``+item`` each to add to the default."""

    def parse(text: str) -> tuple[str, ...]:
        items = [item.strip() for item in text.split(",")]
        added = [item[1:] for item in items if item.startswith("+")]
        if not text or "" in items or "" in added or len(added) not in (0, len(items)):
            raise ValueError("a comma list: every item, or +item,… to add to the default list")
        return tuple(dict.fromkeys((*default, *added) if added else items))

    return parse
