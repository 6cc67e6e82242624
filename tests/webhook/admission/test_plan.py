"""From intent to edits."""

from policies.refusal import Notice
from tests.harness.intents import attachment, equipped, intent
from tests.harness.pods import pod, read
from webhook.admission.plan import plan
from webhook.pods.edits import AddCapability, RequestResource, SelectNode, SetAnnotation

WANTED = intent(
    equipped(("containers", 0), ("rdma/hca", 1)),
    attachments=(attachment("a"),),
    node_selector=(("rdma", "yes"),),
    add_capabilities=("IPC_LOCK",),
    status="{}",
    notices=(Notice("decided before", 1),),
)


def test_edits_come_in_the_order_of_the_injectors() -> None:
    """Annotations first, then the pod's own fields, then containers."""
    edits, _ = plan(read(pod()), WANTED)
    assert [type(one) for one in edits] == [
        SetAnnotation,
        SetAnnotation,
        SelectNode,
        RequestResource,
        AddCapability,
    ]


def test_notices_of_the_decision_come_first() -> None:
    """What injectors say is added to what was decided before."""
    given = read(pod(securityContext={"runAsUser": 1000}))
    _, notices = plan(given, WANTED)
    assert [one.text.split(" ")[0] for one in notices] == ["decided", "container"]


def test_the_same_pod_gives_the_same_plan() -> None:
    """A plan depends on pod and intent alone."""
    assert plan(read(pod()), WANTED) == plan(read(pod()), WANTED)
