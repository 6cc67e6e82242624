"""What is known of one kind, and what a full list changes, against a plain model."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.changes import Gone, Put
from webhook.apiserver.errors import BrokenAnswer
from webhook.watch.known import Known, Listing, place_of

KIND = "NetworkAttachmentDefinition"
Model = dict[tuple[str, str], str]
places = st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from("xyz"))
objects = st.dictionaries(places, st.sampled_from("123"))


def raw(place: tuple[str, str], version: str) -> dict[str, Any]:
    """Return an object as the API server sends it."""
    namespace, name = place
    metadata = {"name": name, "resourceVersion": version, "managedFields": [{}]}
    return {"metadata": {**metadata, **({"namespace": namespace} if namespace else {})}}


def replayed(model: Model, changes: list[Any]) -> Model:
    """Return what a model is after changes."""
    after = dict(model)
    for change in changes:
        if isinstance(change, Put):
            after[place_of(change.object)] = change.object["metadata"]["resourceVersion"]
        else:
            assert isinstance(change, Gone)
            del after[change.namespace, change.name]
    return after


@given(before=objects, listed=objects, removed=st.sets(places), is_drained=st.booleans())
def test_a_list_turns_what_was_into_what_is(
    before: Model, listed: Model, removed: set[tuple[str, str]], *, is_drained: bool
) -> None:
    """Whatever was known: after a list the changes lead to the listed objects, and no further."""
    known = Known(KIND)
    model = replayed({}, [one for place in before for one in known.put(raw(place, before[place]))])
    listing = Listing(known)
    changes = []
    for place, version in listed.items():
        listing.add(raw(place, version))
        changes += listing.drain() if is_drained else []
    for place in removed:
        listing.remove(place)
    changes += listing.finish()
    wanted = {place: version for place, version in listed.items() if place not in removed}
    assert replayed(model, changes) == wanted
    assert known.places() == set(wanted)
    assert known.count == len(wanted)
    unchanged = [p for p in wanted if before.get(p) == wanted[p]]
    puts = {place_of(one.object) for one in changes if isinstance(one, Put)}
    assert puts.isdisjoint(unchanged)
    assert all("managedFields" not in one.object["metadata"] for one in changes if type(one) is Put)


@given(before=objects, listed=objects)
def test_a_list_that_is_not_finished_changes_nothing(before: Model, listed: Model) -> None:
    """What is known stays as it was while a list is under way."""
    known = Known(KIND)
    for place, version in before.items():
        known.put(raw(place, version))
    listing = Listing(known)
    for place, version in listed.items():
        listing.add(raw(place, version))
    assert known.places() == set(before)
    assert all(not known.differs(raw(place, version)) for place, version in before.items())


@pytest.mark.parametrize(
    "found", [{}, {"metadata": 1}, {"metadata": {}}, {"metadata": {"name": ""}}]
)
def test_an_object_without_a_name_is_a_broken_answer(found: dict[str, Any]) -> None:
    """It is said, and never taken for an object."""
    with pytest.raises(BrokenAnswer, match=r"no metadata\.name"):
        Known(KIND).put(found)
