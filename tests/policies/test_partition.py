"""Which numbers can be a tenant's, and how they are written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.network import NumberRange
from policies.partition import misfit, number_problem, shown, suffix
from policies.shapes import PartitionType
from tests.harness.budgets import small

VLAN, PKEY = PartitionType.VLAN, PartitionType.PKEY


@pytest.mark.parametrize(
    ("kind", "number", "problem"),
    [
        pytest.param(VLAN, 1, None, id="the smallest VLAN"),
        pytest.param(VLAN, 4094, None, id="the largest VLAN"),
        pytest.param(VLAN, 0, "out of range 1 to 4094", id="VLAN 0 is untagged"),
        pytest.param(VLAN, 4095, "out of range 1 to 4094", id="VLAN 4095 is reserved"),
        pytest.param(PKEY, 0x0001, None, id="the smallest PKey"),
        pytest.param(PKEY, 0x7FFE, None, id="the largest PKey"),
        pytest.param(PKEY, 0x0000, "want 0x0001 to 0x7ffe", id="PKey 0 is invalid"),
        pytest.param(PKEY, 0x7FFF, "want 0x0001 to 0x7ffe", id="the default partition"),
        pytest.param(PKEY, 0xFFFF, "want 0x0001 to 0x7ffe", id="the default as full member"),
        pytest.param(PKEY, 0x8000, "want 0x0001 to 0x7ffe", id="the membership bit alone"),
        pytest.param(PKEY, 0x8011, "membership bit; write 0x0011", id="a number of a full member"),
        pytest.param(PKEY, 0x10011, "want 0x0001 to 0x7ffe", id="more than 16 bits"),
    ],
)
def test_a_number_can_be_a_tenants_or_not(
    kind: PartitionType, number: int, problem: str | None
) -> None:
    """The message says what to write instead."""
    found = number_problem(kind, number)
    assert (found is None) if problem is None else (problem in (found or ""))


@small
@given(number=st.integers(-1, 0x10001))
def test_a_pkey_without_problem_is_a_partition_of_its_own(number: int) -> None:
    """No number that passes is another one's second spelling, the default or invalid."""
    passes = number_problem(PKEY, number) is None
    assert passes == (1 <= number <= 0x7FFE)


@pytest.mark.parametrize(
    ("kind", "number", "said", "end"),
    [
        (VLAN, 7, "VLAN 7", "v0007"),
        (VLAN, 4094, "VLAN 4094", "v4094"),
        (PKEY, 0x11, "PKey 0x0011", "p0011"),
        (PKEY, 0x7FFE, "PKey 0x7ffe", "p7ffe"),
    ],
)
def test_a_number_is_written_as_people_and_names_have_it(
    kind: PartitionType, number: int, said: str, end: str
) -> None:
    """VLANs are decimal and PKeys hexadecimal, in messages and in names."""
    assert shown(kind, number) == said
    assert suffix(kind, number) == end


@pytest.mark.parametrize(("kind", "number"), [(None, None), (None, 7), (VLAN, None)])
def test_without_a_number_the_name_ends_in_none(
    kind: PartitionType | None, number: int | None
) -> None:
    """A network without partition has one NAD a rail."""
    assert suffix(kind, number) == "none"


@pytest.mark.parametrize(
    ("wanted", "number", "problem"),
    [
        ({"type": "VLAN", "min": 200, "max": 299}, 199, "VLAN 199 is outside .* 200 to 299"),
        ({"type": "VLAN", "min": 200, "max": 299}, 200, None),
        ({"type": "VLAN", "min": 200, "max": 299}, 299, None),
        ({"type": "VLAN", "min": 200, "max": 299}, 300, "VLAN 300 is outside .* 200 to 299"),
        ({"type": "VLAN", "min": 200}, 199, "200 to 4094"),
        ({"type": "VLAN", "min": 200}, 4094, None),
        ({"type": "PKey", "max": 0x1FF}, 1, None),
        ({"type": "PKey", "max": 0x1FF}, 0x200, "PKey 0x0200 is outside .* 0x0001 to 0x01ff"),
        ({"type": "PKey"}, 0x7FFE, None),
        ({"type": "PKey"}, 0x7FFF, "cannot be a tenant's"),
        (None, 5, "RDMANetwork roce carries no partition"),
    ],
)
def test_a_range_has_both_its_ends(
    wanted: dict[str, object] | None, number: int, problem: str | None
) -> None:
    """The first and the last number are given out; without an end it is that of the type."""
    found = misfit("roce", NumberRange.model_validate(wanted) if wanted else None, number)
    assert (found is None) == (problem is None)
    assert re.search(problem or "", found or "")
