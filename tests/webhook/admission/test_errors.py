"""The errors of the room."""

from webhook.admission.errors import AdmissionError, MalformedReview


def test_an_error_carries_the_status_to_answer() -> None:
    """The caller who sent no review is at fault; anything else is ours."""
    assert MalformedReview.status == 400
    assert AdmissionError.status == 500


def test_the_root_has_no_parent_of_another_room() -> None:
    """Catching another room's errors never catches these."""
    assert issubclass(MalformedReview, AdmissionError)
    assert AdmissionError.__mro__[1:] == (Exception, BaseException, object)
