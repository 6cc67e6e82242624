"""Extended resources."""

from typing import Any

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import container, pod
from webhook.injectors import resources
from webhook.pods.edits import RequestResource

POOL = "rdma/hca"


def asked(amount: int, **sides: Any) -> list[str]:  # noqa: ANN401 JSON is anything
    """Return the quantities that a container which shall hold some of the pool asks for."""
    given = pod(None, container(resources=sides or None))
    edits, notices = injected(resources.inject, given, intent(equipped(MAIN, (POOL, amount))))
    assert notices == []
    assert all(isinstance(one, RequestResource) and one.resource == POOL for one in edits)
    return [one.quantity for one in edits if isinstance(one, RequestResource)]


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        pytest.param({}, ["2"], id="nothing is there"),
        pytest.param({"limits": None, "requests": {}}, ["2"], id="null and empty are there"),
        pytest.param({"limits": {POOL: "1"}}, ["2"], id="too little is topped up"),
        pytest.param({"limits": {POOL: "2"}, "requests": {POOL: "2"}}, [], id="it is there"),
        pytest.param({"limits": {POOL: "2"}, "requests": {POOL: 2}}, [], id="a number is as good"),
        pytest.param({"limits": {POOL: "2"}, "requests": {POOL: "2e0"}}, [], id="spelt apart"),
        pytest.param({"limits": {POOL: "2"}}, ["2"], id="a missing request is added"),
        pytest.param({"requests": {POOL: "2"}}, ["2"], id="a missing limit is added"),
        pytest.param({"limits": {POOL: "2"}, "requests": {POOL: "1"}}, ["2"], id="they differ"),
        pytest.param({"limits": {POOL: 1.5}}, ["2"], id="a fraction is no quantity of devices"),
        pytest.param({"limits": {POOL: "x"}}, ["2"], id="what is no quantity is replaced"),
        pytest.param({"limits": {"cpu": "1"}}, ["2"], id="others are not looked at"),
    ],
)
def test_the_same_number_in_both(sides: dict[str, Any], expected: list[str]) -> None:
    """Requests and limits come to the whole number that was decided."""
    assert asked(2, **sides) == expected


def test_each_container_gets_what_it_needs() -> None:
    """Containers without devices ask for nothing."""
    wanted = intent(equipped(MAIN, ("a/b", 1), ("c/d", 3)), equipped(SIDE, name="side"))
    edits, _ = injected(resources.inject, pod(None, container(), container("side")), wanted)
    assert edits == [RequestResource(MAIN, "a/b", "1"), RequestResource(MAIN, "c/d", "3")]
