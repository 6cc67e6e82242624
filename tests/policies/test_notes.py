"""What was worked out from one snapshot."""

from policies.notes import Notes


def test_a_result_is_worked_out_once() -> None:
    """The second time it is remembered, each module's own and each key's."""
    notes = Notes()
    calls: list[str] = []

    def work_out() -> int:
        calls.append("called")
        return len(calls)

    assert [notes.once("a", "key", work_out) for _ in range(2)] == [1, 1]
    assert notes.once("a", "other", work_out) == 2
    assert notes.once("b", "key", work_out) == 3


def test_a_page_is_a_modules_own() -> None:
    """Who owns it bounds it; the others do not see it."""
    notes = Notes()
    notes.page("a")["key"] = 1
    assert notes.page("a") == {"key": 1}
    assert notes.page("b") == {}


def test_nothing_is_shared_between_notes() -> None:
    """A new snapshot begins with empty pages."""
    Notes().page("a")["key"] = 1
    assert Notes().page("a") == {}
