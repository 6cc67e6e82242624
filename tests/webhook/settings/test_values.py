"""Text to value, kind by kind."""

from datetime import timedelta
from pathlib import Path

import pytest

from webhook.settings import values
from webhook.settings.values import Address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.0.0.0:8443", Address("0.0.0.0", 8443)),  # noqa: S104 - only parsed
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("[::1]:8443", Address("::1", 8443)),
        ("localhost:65535", Address("localhost", 65535)),
    ],
)
def test_addresses_are_host_and_port(text: str, expected: Address) -> None:
    """IPv6 in brackets; port 0 means any; printing gives the text back."""
    assert values.address(text) == expected
    assert str(expected) == text


def test_no_host_is_every_interface() -> None:
    """As Go programs write it; messages then say what is listened on."""
    assert str(values.address(":8443")) == "0.0.0.0:8443"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8443",
        "host",
        "host:",
        ":",
        "[]:8443",
        "host:65536",
        "host:x",
        "::1:8443",
        "h:-1",
        "h:²",
    ],
)
def test_what_is_no_address_says_what_one_looks_like(text: str) -> None:
    """The author sees an example."""
    with pytest.raises(ValueError, match=r"HOST:PORT such as 0\.0\.0\.0:8443"):
        values.address(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("500ms", 0.5), ("0s", 0), ("1.5h", 5400)],
)
def test_durations_have_units(text: str, seconds: float) -> None:
    """As Go and Kubernetes write them."""
    assert values.duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "10", "10x", "m", "-5m", "10m ", "1h-3m"])
def test_what_is_no_duration_says_what_one_looks_like(text: str) -> None:
    """A bare number is refused: ten what?"""
    with pytest.raises(ValueError, match="a duration such as 90s, 10m or 1h30m"):
        values.duration(text)


def test_seconds_are_plain_numbers() -> None:
    """A flag that is called -seconds takes no unit."""
    assert values.seconds("0") == timedelta(0)
    assert values.seconds("2.5") == timedelta(seconds=2.5)
    for text in ("", "-1", "10s", "1e9", "nan"):
        with pytest.raises(ValueError, match="a number of seconds"):
            values.seconds(text)


def test_counts_are_whole_and_positive() -> None:
    """Zero requests at a time would be no server."""
    assert values.count("64") == 64
    assert values.count("100000") == 100000
    for text in ("0", "-1", "1.5", "100001", "x", ""):
        with pytest.raises(ValueError, match="from 1 to 100000"):
            values.count(text)


def test_words_are_known_in_any_letter_case() -> None:
    """The value has the spelling that the API has."""
    level = values.one_of("Enforce", "Warn", "Audit")
    assert level("enforce") == "Enforce"
    with pytest.raises(ValueError, match="one of Enforce, Warn, Audit"):
        level("Deny")


def test_lists_replace_or_add_to_the_default() -> None:
    """``a,b`` is the whole list; ``+a`` adds; nothing is there twice."""
    parse = values.list_over(("x/", "y/"))
    assert parse("a/, b/") == ("a/", "b/")
    assert parse("+a/,+x/") == ("x/", "y/", "a/")
    for text in ("", "a,", "+", "a,+b", "+a,b", ","):
        with pytest.raises(ValueError, match="a comma list"):
            parse(text)


def test_folders_must_exist(tmp_path: Path) -> None:
    """A typo in --from is found at once, not as an empty cluster."""
    assert values.folder(str(tmp_path)) == tmp_path
    (tmp_path / "file").touch()
    for text in ("", str(tmp_path / "absent"), str(tmp_path / "file")):
        with pytest.raises(ValueError, match="folder that exists"):
            values.folder(text)
    with pytest.raises(ValueError, match="a path"):
        values.path("")


def test_names_are_dns_labels() -> None:
    """Names of namespaces and Services become certificate names."""
    assert values.dns_label("rdma-system") == "rdma-system"
    for text in ("", "Rdma", "a.b", "-a", "a" * 64):
        with pytest.raises(ValueError, match="at most 63"):
            values.dns_label(text)
