"""Applying our own operations, held against an independent library."""

import json
from copy import deepcopy
from typing import Any

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.pod_strategies import BUDGET
from webhook.pods.apply import apply
from webhook.pods.errors import PatchDoesNotApply
from webhook.pods.patch import Op

DOCUMENT = {"map": {"a/b": 1, "c~d": {"x": None}}, "list": [{"y": 1}, 2], "null": None}


@pytest.mark.parametrize(
    ("op", "path", "pointer"),
    [
        pytest.param("add", "/map/new", "/map/new", id="a key is added"),
        pytest.param("add", "/map/a~1b", "/map/a~1b", id="a key with a slash is written over"),
        pytest.param(
            "replace", "/map/c~0d/x", "/map/c~0d/x", id="a null below a tilde is replaced"
        ),
        pytest.param("add", "/null", "/null", id="a null is written over"),
        pytest.param("add", "/list/-", "/list/2", id="a list is appended to"),
        pytest.param("replace", "/list/1", "/list/1", id="an item of a list is replaced"),
        pytest.param("add", "/list/0/z", "/list/0/z", id="a key is added inside a list"),
        pytest.param("add", "/new", "/new", id="a key is added to the document"),
    ],
)
def test_an_operation_is_applied(op: str, path: str, pointer: str) -> None:
    """Each operation that we write puts its value where it points."""
    before = deepcopy(DOCUMENT)
    found = apply([Op(op, path, ["value"])], DOCUMENT)
    assert jsonpointer.resolve_pointer(found, pointer) == ["value"]
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("op", "path"),
    [
        pytest.param("add", "/absent/key", id="the parent is absent"),
        pytest.param("add", "/null/key", id="the parent is null"),
        pytest.param("add", "/map/a~1b/key", id="the parent is a number"),
        pytest.param("add", "/list/9/key", id="the parent is beyond the list"),
        pytest.param("add", "/list/x/key", id="the parent is no number of a list"),
        pytest.param("replace", "/map/absent", id="there is nothing to replace"),
        pytest.param("replace", "/list/9", id="the item to replace is beyond the list"),
        pytest.param("replace", "/list/-", id="the end of a list cannot be replaced"),
        pytest.param("add", "/list/0", id="an item is never inserted into a list"),
    ],
)
def test_what_does_not_apply_is_an_error(op: str, path: str) -> None:
    """A patch that the API server would refuse is never sent."""
    with pytest.raises(PatchDoesNotApply, match=f"{op} {path}: its place is not there"):
        apply([Op(op, path, "value")], deepcopy(DOCUMENT))


def test_later_operations_see_earlier_ones() -> None:
    """An operation may write into what one before it has made."""
    ops = [Op("add", "/a", {}), Op("add", "/a/b", []), Op("add", "/a/b/-", 1)]
    assert apply(ops, {}) == {"a": {"b": [1]}}
    assert [one.value for one in ops] == [{}, [], 1]


def test_a_parent_that_was_written_over_is_forgotten() -> None:
    """After a map was written over, operations go into the new one."""
    ops = [Op("add", "/a/b/old", 1), Op("add", "/a", {"b": {}}), Op("add", "/a/b/new", 2)]
    assert apply(ops, {"a": {"b": {}}}) == {"a": {"b": {"new": 2}}}


KEYS = st.sampled_from(("a", "b", "x/y", "m~n"))
VALUES = st.recursive(
    st.none() | st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
MAPS = st.dictionaries(KEYS, VALUES, max_size=4)


@st.composite
def operations(draw: st.DrawFn, document: Any) -> list[Op]:  # noqa: ANN401 JSON is anything
    """Draw operations of our kinds, most of them into places that are there."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        path, place = "", document
        while isinstance(place, dict | list) and place and draw(st.integers(0, 3)):
            if isinstance(place, dict):
                key = draw(st.sampled_from(sorted(place)))
                path, place = f"{path}/{jsonpointer.escape(key)}", place[key]
            else:
                index = draw(st.integers(0, len(place) - 1))
                path, place = f"{path}/{index}", place[index]
        op = draw(st.sampled_from(("add", "replace")))
        if isinstance(place, list):
            last = "-" if op == "add" else str(draw(st.integers(0, 2)))
        else:
            last = jsonpointer.escape(draw(KEYS))
        found.append(Op(op, f"{path}/{last}", draw(VALUES)))
    return found


@BUDGET
@given(st.data(), MAPS)
def test_it_does_what_the_library_does(data: st.DataObject, document: dict[str, Any]) -> None:
    """On operations of our kinds the result, or the refusal, is that of an independent library."""
    ops = data.draw(operations(document))
    patch: Any = [{"op": one.op, "path": one.path, "value": deepcopy(one.value)} for one in ops]
    try:
        expected = jsonpatch.JsonPatch(patch).apply(deepcopy(document))
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException):
        expected = None
    before = deepcopy(document)
    try:
        found = apply(ops, document)
    except PatchDoesNotApply:
        assert expected is None
    else:
        assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    assert document == before
