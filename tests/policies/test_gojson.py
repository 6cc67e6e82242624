"""JSON as Go reads it: what the two languages read alike passes, everything else is refused."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policies.errors import AmbiguousJSON
from policies.gojson import loads, refuse_variants
from tests.harness.budgets import small

KNOWN = frozenset({"vlan", "namespace", "pkey", "spoofchk"})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
)
FOLDS = {"s": "\u017f", "k": "\u212a"}
"""Letters beyond ASCII that Go takes for a letter of ASCII: long s and the Kelvin sign."""


def _is_unambiguous(value: Any) -> bool:  # noqa: ANN401 JSON is anything
    if isinstance(value, list):
        return all(map(_is_unambiguous, value))
    if isinstance(value, dict):
        folded = {key.casefold() for key in value}
        return len(folded) == len(value) and all(map(_is_unambiguous, value.values()))
    return True


@small
@given(value=VALUES, ascii_only=st.booleans())
def test_what_is_unambiguous_is_read_as_python_reads_it(
    value: Any,  # noqa: ANN401 JSON is anything
    *,
    ascii_only: bool,
) -> None:
    """No value is refused or changed where no two keys of an object fold to one."""
    assume(_is_unambiguous(value))
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert loads(text) == json.loads(text)


@small
@given(key=st.text("skaSK", min_size=1, max_size=6), data=st.data())
def test_two_keys_that_go_takes_for_one_are_refused(key: str, data: st.DataObject) -> None:
    """Whatever letters change their case, or become long s or the Kelvin sign, at any depth."""
    spellings = [
        st.sampled_from([one.lower(), one.upper(), FOLDS.get(one.lower(), one)]) for one in key
    ]
    other = "".join(data.draw(spelling) for spelling in spellings)
    first, second = json.dumps(key), json.dumps(other)
    text = f'[{{"below": {{{first}: 1, "x": 2, {second}: 3}}}}]'
    with pytest.raises(AmbiguousJSON, match="occurs twice"):
        loads(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("vlan", "VLAN", id="ASCII letters"),
        pytest.param("spoofchk", "\u017fpoofchk", id="long s"),
        pytest.param("pkey", "p\u212aey", id="Kelvin sign"),
        pytest.param("\u00e5", "\u212b", id="angstrom sign"),
        pytest.param("\u00b5", "\u03bc", id="micro sign and Greek mu"),
        pytest.param("\u03c3", "\u03c2", id="both small sigmas"),
        pytest.param("\u03b8", "\u03d1", id="theta and its symbol"),
        pytest.param("\u01c5", "\u01c6", id="a title-case digraph"),
        pytest.param("\u1e9e", "\u00df", id="sharp s"),
    ],
)
def test_letters_of_one_fold_are_one_letter(one: str, other: str) -> None:
    """Go compares keys by Unicode's simple folding, beyond ASCII too."""
    with pytest.raises(AmbiguousJSON, match="occurs twice"):
        loads(json.dumps({one: 1, other: 2}))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "not valid JSON", id="nothing"),
        pytest.param("{", "not valid JSON", id="an end that is missing"),
        pytest.param("{} trailing", "at character 4", id="something after the value"),
        pytest.param("{'a': 1}", "not valid JSON", id="single quotes"),
        pytest.param('{"a": 01}', "not valid JSON", id="a leading zero"),
        pytest.param('{"a": "\t"}', "not valid JSON", id="a raw control character"),
        pytest.param("\ufeff{}", "not valid JSON", id="a byte order mark"),
        pytest.param('{"a": NaN}', "NaN is not JSON", id="not a number"),
        pytest.param('{"a": -Infinity}', "-Infinity is not JSON", id="infinity by name"),
        pytest.param('{"a": 1e999}', "out of range", id="infinity by size"),
        pytest.param('{"a": ' + "1" * 5000 + "}", "out of range", id="a number of 5000 digits"),
        pytest.param('{"a": "\\ud800"}', "surrogate", id="half a surrogate pair as a value"),
        pytest.param('{"\\udc00": 1}', "surrogate", id="half a surrogate pair as a key"),
        pytest.param("[" * 100_000, "nested too deep", id="a deep list"),
        pytest.param('{"a":' * 100_000, "nested too deep", id="a deep object"),
        pytest.param('{"a": 1, "a": 1}', "key 'a' occurs twice", id="a key twice"),
        pytest.param('{"vlan": 1, "Vlan": 2}', "key 'Vlan' occurs twice", id="the one Go takes"),
    ],
)
def test_a_text_that_go_refuses_or_reads_otherwise_is_refused(text: str, problem: str) -> None:
    """The message says what is wrong, and no other error leaves the reader."""
    with pytest.raises(AmbiguousJSON, match=problem):
        loads(text)


def test_a_whole_surrogate_pair_is_a_character() -> None:
    """Both languages join the two halves."""
    assert loads('"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"VLAN": 5}', id="at the top"),
        pytest.param('{"plugins": [{"a": {"NameSpace": "b"}}]}', id="deep inside"),
        pytest.param('{"p\u212aey": "0x11"}', id="by the Kelvin sign"),
        pytest.param('{"\u017fpoofchk": "on"}', id="by long s"),
    ],
)
def test_a_known_key_in_another_case_is_refused(text: str) -> None:
    """Go would see the key, and a Python reader would not."""
    assert loads(text)
    with pytest.raises(AmbiguousJSON, match="write it in that letter case"):
        loads(text, KNOWN)


def test_keys_that_nobody_looks_for_may_have_any_case() -> None:
    """Only keys that a reader looks for have one right spelling."""
    assert loads('{"vlan": 1, "sysctl": {"Net": 1}}', KNOWN) == {"vlan": 1, "sysctl": {"Net": 1}}
    refuse_variants({"vlan": 1}, KNOWN)
    refuse_variants({"vlan": 1, "mtu": 2}, KNOWN)
