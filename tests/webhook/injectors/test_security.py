"""Linux capabilities."""

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import Object, container, pod
from webhook.injectors import security
from webhook.pods.edits import AddCapability, DropCapability

WANTED = intent(add_capabilities=("IPC_LOCK",), drop_capabilities=("NET_RAW",))
ADDS = AddCapability(MAIN, "IPC_LOCK")


def test_added_where_devices_are_and_dropped_everywhere() -> None:
    """Containers share the pod's network, so all of them drop; init containers too."""
    given = pod(None, container(), container("side"), initContainers=[container("setup")])
    edits, notices = injected(security.inject, given, WANTED)
    assert edits == [
        ADDS,
        DropCapability(MAIN, "NET_RAW"),
        DropCapability(SIDE, "NET_RAW"),
        DropCapability(("initContainers", 0), "NET_RAW"),
    ]
    assert notices == []


def test_a_companion_gets_none() -> None:
    """A container that only shares memory needs no capability."""
    wanted = intent(equipped(has_devices=False), add_capabilities=("IPC_LOCK",))
    assert injected(security.inject, pod(), wanted) == ([], [])


def test_a_privileged_container_gets_none_and_is_told() -> None:
    """It has every capability already, and reaches more than its network."""
    given = pod(
        None,
        container(securityContext={"privileged": True}),
        container("side", securityContext={"privileged": True}),
    )
    edits, notices = injected(security.inject, given, WANTED)
    assert edits == []
    (text,) = notices
    assert text.startswith("container main is privileged: it reaches every device of the node")


@pytest.mark.parametrize(
    ("own", "whole", "who"),
    [
        pytest.param(None, None, None, id="the image decides"),
        pytest.param(
            {"runAsUser": 0}, {"runAsUser": 1000}, None, id="root in a pod of another user"
        ),
        pytest.param({"runAsUser": 1000}, None, "uid 1000", id="another user"),
        pytest.param({}, {"runAsUser": 1000}, "uid 1000", id="another user of the whole pod"),
        pytest.param({"runAsNonRoot": True}, None, "non-root", id="any user but root"),
        pytest.param(None, {"runAsNonRoot": True}, "non-root", id="any but root in the whole pod"),
        pytest.param({"runAsNonRoot": False}, {"runAsNonRoot": True}, None, id="root is let in"),
        pytest.param(
            {"runAsUser": 0, "runAsNonRoot": True}, None, None, id="a pod that cannot start"
        ),
    ],
)
def test_a_capability_of_a_user_who_is_not_root_is_inert(
    own: Object | None, whole: Object | None, who: str | None
) -> None:
    """The capability is added all the same, and its author learns what the node needs."""
    given = pod(None, container(securityContext=own), securityContext=whole)
    edits, notices = injected(security.inject, given, intent(add_capabilities=("IPC_LOCK",)))
    assert edits == [ADDS]
    assert notices == (
        [f"container main runs as {who}: IPC_LOCK is inert, the node needs memlock unlimited"]
        if who
        else []
    )


def test_a_user_namespace_makes_it_inert() -> None:
    """The kernel asks for the capability in the initial user namespace."""
    _, notices = injected(security.inject, pod(hostUsers=False), WANTED)
    assert notices == ["container main: IPC_LOCK is inert with hostUsers: false"]


def test_nothing_added_is_nothing_inert() -> None:
    """Without a capability to add there is no word about one."""
    given = pod(securityContext={"runAsUser": 1000})
    assert injected(security.inject, given, intent()) == ([], [])


def test_what_its_author_drops_stays_dropped() -> None:
    """An author's own word wins; that RDMA needs it is said."""
    given = pod(None, container(securityContext={"capabilities": {"drop": ["IPC_LOCK"]}}))
    edits, notices = injected(security.inject, given, WANTED)
    assert edits == [DropCapability(MAIN, "NET_RAW")]
    assert notices == ["container main drops IPC_LOCK itself, which RDMA needs"]
