"""How the NADs of a network are named."""

from hypothesis import given
from hypothesis import strategies as st

from policies.attached import nad_name
from policies.shapes import PartitionType
from tests.harness.budgets import small

VLAN = PartitionType.VLAN
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)
RAILS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?", fullmatch=True)
LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


@small
@given(network=NAMES, one=RAILS, number=st.none() | st.integers(1, 4094))
def test_the_name_of_a_nad_is_a_dns_label(network: str, one: str, number: int | None) -> None:
    """At most 63 characters, and its end says the partition."""
    name = nad_name(network, one, VLAN, number)
    assert len(name) <= 63
    assert name.startswith("rdma-")
    assert name.endswith("-none" if number is None else f"-v{number:04}")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert name[-1] != "-"


def test_a_short_name_says_everything() -> None:
    """Network, rail and partition, for people."""
    assert nad_name("train", "r0", VLAN, 210) == "rdma-train-r0-v0210"
    assert nad_name("train", "r0", PartitionType.PKEY, 0x11) == "rdma-train-r0-p0011"
    assert nad_name("train", "r0", None, None) == "rdma-train-r0-none"


def test_long_names_that_differ_in_the_middle_stay_apart() -> None:
    """Same beginning, same rail and same partition: the hash tells them apart."""
    names = {nad_name(f"{'a' * 40}-{n:03}-{'z' * 18}", "rail-zero", VLAN, 210) for n in range(500)}
    assert len(names) == 500
    assert all(len(name) <= 63 and name.endswith("-v0210") for name in names)


def test_a_long_name_has_no_two_dashes_at_the_cut() -> None:
    """The cut may fall behind a dash of the network's own name."""
    name = nad_name("a" * 36 + "-" + "b" * 20, "r", VLAN, 1)
    assert len(name) <= 63
    assert "--" not in name
