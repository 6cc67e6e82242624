"""The snapshot as the leader looks at it."""

from policies.changes import Put
from tests.harness.cluster import cluster, policy
from webhook.control.view import MOST_LOOKS, View


def test_the_newest_snapshot_is_seen() -> None:
    """Equal to the one that requests read."""
    known = [cluster()]
    view = View(lambda: known[0])
    assert view().shards is known[0].shards
    known[0] = known[0].apply([Put("RDMAPolicy", policy("tokens", namespace="other"))])
    assert view().knows("RDMAPolicy", "other", "default")


def test_what_is_worked_out_is_dropped_after_a_while() -> None:
    """And never kept with the snapshot that requests read."""
    known = cluster()
    view = View(lambda: known)
    first = view()
    first.notes.page("test")["x"] = "worked out"
    assert view() is first
    assert known.notes.page("test") == {}
    assert all(view() is first for _ in range(MOST_LOOKS - 2))
    assert view().notes.page("test") == {}


def test_who_no_longer_leads_holds_nothing() -> None:
    """The old snapshot may go."""
    view = View(cluster)
    first = view()
    view.forget()
    assert view() is not first
