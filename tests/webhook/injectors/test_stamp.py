"""The status annotation."""

from tests.harness.intents import injected, intent
from tests.harness.pods import pod
from webhook.injectors import stamp
from webhook.pods.edits import SetAnnotation


def test_the_status_is_written() -> None:
    """The text of the intent becomes the annotation, whatever was there."""
    given = pod(annotations={"rdma.io/status": "of an older pod"})
    wanted = intent(status='{"networks":["net"]}')
    assert injected(stamp.inject, given, wanted) == (
        [SetAnnotation("rdma.io/status", '{"networks":["net"]}')],
        [],
    )
