"""The network selection annotation."""

import pytest

from tests.harness.intents import attachment, injected, intent
from tests.harness.pods import pod
from webhook.injectors import networks
from webhook.pods.edits import Edit, SetAnnotation

KEY = "k8s.v1.cni.cncf.io/networks"


def inject(value: str | None, **fields: object) -> list[Edit]:
    """Return the edits on a pod with this selection."""
    given = pod(annotations={} if value is None else {KEY: value})
    edits, notices = injected(networks.inject, given, intent(**fields))
    assert notices == []
    return edits


@pytest.mark.parametrize("value", [None, ""])
def test_an_attachment_is_selected(value: str | None) -> None:
    """A pod without selections gets a list of ours alone."""
    written = '[{"name":"a","namespace":"team-a","interface":"rdma0"}]'
    assert inject(value, attachments=(attachment("a"),)) == [SetAnnotation(KEY, written)]


def test_the_users_own_come_first() -> None:
    """Ours stand behind the user's elements."""
    written = '[{"name":"mine"},{"name":"a","namespace":"team-a","interface":"rdma0"}]'
    assert inject("mine", attachments=(attachment("a"),)) == [SetAnnotation(KEY, written)]


def test_an_attachment_that_the_user_selected_is_not_added() -> None:
    """The user's own element is the attachment."""
    given = (attachment("a", selected=True), attachment("b", interface="rdma1"))
    written = '[{"name":"a"},{"name":"b","namespace":"team-a","interface":"rdma1"}]'
    assert inject("a", attachments=given) == [SetAnnotation(KEY, written)]


@pytest.mark.parametrize("attachments", [(), (attachment("a", selected=True),)])
def test_nothing_to_add_leaves_the_annotation_alone(attachments: tuple[object, ...]) -> None:
    """A comma list stays one where nothing is appended."""
    assert inject("a@x , b", attachments=attachments) == []
