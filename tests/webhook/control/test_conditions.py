"""Standings as statuses: what is written, and what is worth writing."""

from policies.standing.finding import Standing, no, yes
from webhook.control.conditions import digest, find, status

READY = Standing((yes("Ready", "Ready", "fine"),), {"counts": {"networks": 1}})
NOT_READY = Standing((no("Ready", "UnknownNetwork", "gone"),), {"counts": {"networks": 0}})


def test_a_status_holds_all_that_a_condition_needs() -> None:
    """In the shape of meta/v1, with the generation that was looked at."""
    assert status(READY, 3, {}, "T1") == {
        "counts": {"networks": 1},
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "observedGeneration": 3,
                "lastTransitionTime": "T1",
                "reason": "Ready",
                "message": "fine",
            }
        ],
    }


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    """Another reason or generation is no transition."""
    first = status(READY, 1, {}, "T1")
    same = status(Standing((yes("Ready", "NothingGranted", "none"),)), 2, first, "T2")
    assert same["conditions"][0]["lastTransitionTime"] == "T1"
    other = status(NOT_READY, 3, same, "T3")
    assert other["conditions"][0]["lastTransitionTime"] == "T3"


def test_statuses_that_say_the_same_are_equal() -> None:
    """Neither time nor order says anything; all else does."""
    first = status(READY, 1, {}, "T1")
    assert digest(first) == digest(status(READY, 1, {}, "T2"))
    two = status(Standing((yes("A", "A", "a"), no("B", "B", "b"))), 1, {}, "T")
    assert digest(two) == digest({"conditions": two["conditions"][::-1]})
    for other in (status(READY, 2, {}, "T1"), status(NOT_READY, 1, {}, "T1"), {}):
        assert digest(first) != digest(other)


def test_a_status_of_any_shape_is_read() -> None:
    """Whoever wrote it."""
    for odd in ({"conditions": 7}, {"conditions": [7, {"type": 1}]}, {"conditions": None}):
        assert digest(odd) == digest({})
        assert status(READY, 1, odd, "T")["conditions"][0]["lastTransitionTime"] == "T"


def test_a_condition_is_found_by_its_type() -> None:
    """Nothing where there is none."""
    said = status(READY, 1, {}, "T")
    assert find(said, "Ready")["message"] == "fine"
    assert find(said, "Other") == find({"conditions": [{"type": 7}]}, "Ready") == {}


def test_a_time_of_an_odd_shape_is_not_kept() -> None:
    """The API server would refuse it for ever."""
    odds: list[object] = [7, {}, "", None, ["T"]]
    for odd in odds:
        old = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": odd}]}
        assert status(READY, 1, old, "T2")["conditions"][0]["lastTransitionTime"] == "T2"
