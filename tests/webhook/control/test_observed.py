"""What replicas remember of the status of each object."""

from typing import Any

from policies.changes import Everything, Gone, Put
from webhook.control.keys import Key
from webhook.control.observed import Observed

KEY = Key("RDMAPolicy", "team-a", "default")


def policy(generation: object = 1, status: object = None) -> dict[str, Any]:
    """Return a policy as the API serves it."""
    metadata = {"namespace": "team-a", "name": "default", "generation": generation}
    return {"kind": "RDMAPolicy", "metadata": metadata, "status": status}


def seen(*changes: Put | Gone | Everything) -> Observed:
    """Return what is known after some changes."""
    found = Observed()
    found.follow(changes)
    return found


def test_an_object_is_known_by_its_last_version() -> None:
    """Its generation, and what its status says."""
    first = seen(Put("RDMAPolicy", policy())).sight(KEY)
    later = seen(Put("RDMAPolicy", policy()), Put("RDMAPolicy", policy(2, {"counts": {}})))
    assert first is not None
    assert later.sight(KEY) is not None
    assert first != later.sight(KEY)
    assert first.generation == 1


def test_what_is_gone_is_forgotten() -> None:
    """By an event, or by a list that does not hold it."""
    assert (
        seen(Put("RDMAPolicy", policy()), Gone("RDMAPolicy", "team-a", "default")).sight(KEY)
        is None
    )
    assert seen(Put("RDMAPolicy", policy()), Everything("RDMAPolicy", [])).sight(KEY) is None
    assert seen(Everything("RDMAPolicy", [policy()])).sight(KEY) is not None


def test_other_kinds_have_no_status_of_ours() -> None:
    """A NAD, a namespace."""
    found = seen(Put("Namespace", {"metadata": {"name": "x"}}), Gone("Namespace", "", "x"))
    assert found.sight(Key("Namespace", "", "x")) is None


def test_an_odd_object_is_taken() -> None:
    """A status of another shape says nothing."""
    odd = seen(Put("RDMAPolicy", policy("x", 7))).sight(KEY)
    assert odd == seen(Put("RDMAPolicy", policy(0))).sight(KEY)
    assert seen(Put("RDMAPolicy", {"metadata": 7})).sight(Key("RDMAPolicy", "", "")) is not None


def test_an_object_of_the_same_name_is_another_one() -> None:
    """Its uid tells, or its generation: what was seen of one says nothing of the other."""
    first, other = policy(), policy()
    first["metadata"]["uid"], other["metadata"]["uid"] = "a", "b"
    sight = seen(Put("RDMAPolicy", first)).sight(KEY)
    assert sight is not None
    assert sight.is_of({**first, "status": {"counts": {}}})
    newer = {"metadata": {**first["metadata"], "generation": 2}}
    assert not any(sight.is_of(one) for one in (other, newer, {}, {"metadata": 7}))


def test_the_generation_of_each_policy_is_known() -> None:
    """Of those that count, not of strays."""
    stray = policy()
    stray["metadata"]["name"] = "stray"
    known = seen(Put("RDMAPolicy", policy(3)), Put("RDMAPolicy", stray), Put("RDMANetwork", {}))
    assert dict(known.generations()) == {"team-a": 3}
