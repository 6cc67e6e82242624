"""Kubernetes quantities as exact numbers, and whole numbers of a resource list."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.quantity import parse, whole
from tests.harness.budgets import small

SUFFIXES = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{suffix: Fraction(1000) ** (n + 1) for n, suffix in enumerate("kMGTPE")},
    **{f"{suffix}i": Fraction(1024) ** (n + 1) for n, suffix in enumerate("KMGTPE")},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("8Gi", 8 * 2**30),
        ("1.5Gi", 3 * 2**29),
        ("500m", Decimal("0.5")),
        ("100n", Decimal("1e-7")),
        ("3u", Decimal("3e-6")),
        ("2k", 2000),
        ("1E", 10**18),
        ("1Ei", 2**60),
        ("1e3", 1000),
        ("1E3", 1000),
        ("2e-1", Decimal("0.2")),
        ("+1", 1),
        ("-1Ki", -1024),
        ("1.", 1),
        (".5", Decimal("0.5")),
    ],
)
def test_a_quantity_has_its_value(text: str, value: Decimal | int) -> None:
    """Every spelling that the API server takes."""
    assert parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "+", "Gi", "1GiB", "1K", "1ki", "1 Gi", " 1", "1e", "1e3Gi", "0x10", "1_0"),
        *("inf", "nan", "1\n", "\u0661", "1e1000", "1" * 65, "--1", "1.2.3"),
    ],
)
def test_a_text_that_is_no_quantity_has_none(text: str) -> None:
    """No unit of another world, no space, no digit of another script, nothing too long."""
    assert parse(text) is None


@small
@given(
    sign=st.sampled_from(["", "+", "-"]),
    before=st.integers(0, 10**40),
    after=st.none() | st.text("0123456789", max_size=18),
    suffix=st.sampled_from(sorted(SUFFIXES)),
)
def test_no_digit_is_lost(sign: str, before: int, after: str | None, suffix: str) -> None:
    """The value is that of exact arithmetic, however many digits there are."""
    digits = f"{before}" if after is None else f"{before}.{after}"
    factor = -1 if sign == "-" else 1
    found = parse(f"{sign}{digits}{suffix}")
    assert found is not None
    assert Fraction(found) == factor * Fraction(digits.rstrip(".")) * SUFFIXES[suffix]


@small
@given(number=st.integers(-(10**12), 10**12), exponent=st.integers(-99, 99))
def test_an_exponent_is_a_power_of_ten(number: int, exponent: int) -> None:
    """``2e3`` is what Decimal says, in either letter case."""
    with localcontext(prec=200):
        expected = Decimal(number).scaleb(exponent)
    assert parse(f"{number}e{exponent}") == parse(f"{number}E{exponent}") == expected


@small
@given(text=st.text() | st.text("0123456789.+-eEkKMGiTPnum", max_size=10))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Any text is a number or none, and a whole number or none."""
    value, number = parse(text), whole(text)
    assert value is None or value.is_finite()
    assert (number is None) == (value is None or value < 0 or value != value.to_integral_value())


@pytest.mark.parametrize(
    ("value", "number"),
    [
        pytest.param("8", 8, id="a text"),
        pytest.param(8, 8, id="a number in place of the text"),
        pytest.param("1k", 1000, id="a suffix"),
        pytest.param("0", 0, id="zero"),
        pytest.param("1000m", 1, id="a whole number of thousandths"),
        pytest.param("1.5", None, id="a fraction"),
        pytest.param("-1", None, id="a negative text"),
        pytest.param(-1, None, id="a negative number"),
        pytest.param("many", None, id="no quantity"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_a_whole_number_is_one_or_none(value: str | int | None, number: int | None) -> None:
    """Extended resources are whole and not negative."""
    assert whole(value) == number
