"""Which networks a pod is to be on: its wish, held against the policy of its namespace."""

from typing import Any

import pytest

from policies.refusal import Pending, Reason, Refusal
from policies.rules import Rules
from policies.select import Applicable, Choice, NotApplicable, select
from policies.snapshot import Snapshot
from tests.harness.cluster import granted, network, policy, rail, snapshot
from tests.harness.subjects import subject

Object = dict[str, Any]


def plain(name: str) -> Object:
    """A network without NADs and partitions."""
    return network(name, "DeviceOnly", rail("r0", "rdma/ib"))


def parted(name: str) -> Object:
    """A network with partitions and no NAD: the one that is missed tells which was chosen."""
    return network(name, "SRIOVEthernet", rail("r0", "nvidia.com/vf"), partition={"type": "VLAN"})


TENANT = policy("a", "b", defaultNetwork="b")
CLUSTER = snapshot(plain("a"), plain("b"), TENANT)


def selected(text: str | None, found: Snapshot = CLUSTER, /, **annotations: str) -> Choice:
    """What is selected for a pod with a network and further annotations of ours."""
    named = {f"rdma.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return select(subject(text, annotations=named), found)


def refused(found: Choice) -> Refusal:
    """The answer, which has to be a no."""
    assert isinstance(found, Refusal)
    return found


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        pytest.param("a", [("a", None)], id="one"),
        pytest.param("b:2,a", [("b", 2), ("a", None)], id="two in the order of the text"),
        pytest.param("default", [("b", None)], id="the policy's default"),
        pytest.param("default:3", [("b", 3)], id="the default with a count"),
        pytest.param("b,default", [("b", 2)], id="the default named twice"),
        pytest.param("default:2,a,b:3", [("b", 5), ("a", None)], id="the default by both names"),
    ],
)
def test_a_pod_gets_the_networks_it_names(text: str, orders: list[tuple[str, int | None]]) -> None:
    """Names in their order, with their counts, the word ``default`` in its own place."""
    found = selected(text)
    assert isinstance(found, Applicable)
    assert [(one.offer.network, one.count) for one in found.orders] == orders
    assert found.tenancy.namespace == found.subject.namespace == "team-a"


@pytest.mark.parametrize("text", ["default:100,b:100", "b:128,default"])
def test_a_default_named_twice_has_one_bound(text: str) -> None:
    """Two names of one network do not double what a pod may ask for."""
    assert refused(selected(text)).reason is Reason.COUNT_OUT_OF_RANGE


def test_a_pod_that_asks_for_nothing_is_left_alone() -> None:
    """Without our annotations there is no decision and no warning, policy or not."""
    assert selected(None) == NotApplicable()
    assert select(subject(None, namespace="nowhere"), CLUSTER) == NotApplicable()


@pytest.mark.parametrize(
    ("text", "annotations", "reason"),
    [
        pytest.param("A", {}, Reason.NETWORK_INVALID, id="a text that is no list"),
        pytest.param("a", {"rail": "1"}, Reason.ANNOTATION_UNKNOWN, id="an unknown key"),
        pytest.param(None, {"shm_size": "1Gi"}, Reason.ANNOTATION_INERT, id="no network"),
        pytest.param("c", {}, Reason.NETWORK_NOT_GRANTED, id="a network that is not granted"),
        pytest.param("a,c", {}, Reason.NETWORK_NOT_GRANTED, id="the second is not granted"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_refused(
    text: str | None, annotations: dict[str, str], reason: Reason
) -> None:
    """The pod is told at once, and nothing is left out silently."""
    assert refused(selected(text, **annotations)).reason is reason


def test_a_network_that_is_not_granted_is_answered_with_those_that_are() -> None:
    """Known or not, the message is the same, so that names of other tenants cannot be probed."""
    found = snapshot(plain("a"), plain("secret"), policy("a"))
    known, unknown = (refused(selected(name, found)) for name in ("secret", "absent"))
    assert known.message.replace("secret", "absent") == unknown.message
    assert "(granted: a)" in known.message
    assert "the platform admin can add it to RDMAPolicy team-a/default" in known.message


def test_a_default_that_is_not_set_is_said() -> None:
    """The author learns which networks there are."""
    found = refused(selected("default", snapshot(plain("a"), policy("a"))))
    assert found.reason is Reason.NETWORK_NOT_GRANTED
    assert "which is not set; the pod's author can name a network (granted: a)" in found.message


def test_a_namespace_without_policy_may_still_get_one() -> None:
    """The pod waits, and is refused if none comes."""
    found = selected("a", snapshot(plain("a")))
    assert isinstance(found, Pending)
    assert (found.kind, found.namespace, found.name) == ("RDMAPolicy", "team-a", "default")
    assert found.refusal.reason is Reason.POLICY_NOT_READY
    assert "namespace team-a has no RDMAPolicy" in found.refusal.message


def test_a_setting_lets_pods_without_policy_pass() -> None:
    """The annotation is ignored, with the first of the warnings."""
    found = selected("a", snapshot(plain("a"), rules=Rules(missing_policy="Ignore")))
    assert isinstance(found, NotApplicable)
    assert [(one.text, one.rank) for one in found.notices] == [
        ("rdma.io/network ignored: namespace team-a has no RDMAPolicy", 0)
    ]


def test_a_policy_that_never_parsed_is_not_ready() -> None:
    """Its own problem is the message, and nobody waits."""
    found = refused(selected("a", snapshot(policy("a", defaultNetwork="x"))))
    assert found.reason is Reason.POLICY_NOT_READY
    assert found.message.startswith("RDMAPolicy team-a/default: spec.defaultNetwork: x is not")


def test_what_an_offer_waits_for_the_pod_waits_for() -> None:
    """A granted network that is not there yet."""
    found = selected("a", snapshot(policy("a")))
    assert isinstance(found, Pending)
    assert (found.kind, found.name) == ("RDMANetwork", "a")


def partitions(*names: str) -> Object:
    """A grant of network a with several partitions."""
    numbered = [{"name": name, "number": n} for n, name in enumerate(names, 100)]
    return policy({"name": "a", "partitions": numbered}, "b")


@pytest.mark.parametrize(
    ("grants", "asked", "number"),
    [
        pytest.param(("blue",), None, 100, id="the only one"),
        pytest.param(("blue", "main"), None, 101, id="main where nothing is said"),
        pytest.param(("blue", "main"), "blue", 100, id="by name for all networks"),
        pytest.param(("blue", "red"), "a=red", 101, id="by name for this network"),
        pytest.param((), "main", None, id="main where none is listed"),
        pytest.param((), None, None, id="none where none is listed"),
    ],
)
def test_a_partition_is_chosen(
    grants: tuple[str, ...], asked: str | None, number: int | None
) -> None:
    """The one named, the only one, or main."""
    annotations = {"partition": asked} if asked else {}
    found = selected("a", snapshot(parted("a"), partitions(*grants)), **annotations)
    waits = found.refusal.message if isinstance(found, Pending) else refused(found).message
    if number is None:
        assert "partitions[main].number: no VLAN is set" in waits
    else:
        assert f"team-a/rdma-a-r0-v{number:04} is not" in waits


@pytest.mark.parametrize(
    ("text", "annotations", "reason", "problem"),
    [
        pytest.param(
            "a",
            {},
            Reason.PARTITION_AMBIGUOUS,
            "network a has the partitions blue, red; the pod's author can name one",
            id="several and none named",
        ),
        pytest.param(
            "a",
            {"partition": "green"},
            Reason.PARTITION_NOT_GRANTED,
            'partition "green" of network a is not granted to namespace team-a '
            "(granted: blue, red)",
            id="one that is not granted",
        ),
        pytest.param(
            "b",
            {"partition": "b=blue"},
            Reason.PARTITION_NOT_GRANTED,
            'partition "blue" of network b is not granted to namespace team-a (granted: none)',
            id="one where none is listed",
        ),
        pytest.param(
            "b",
            {"partition": "a=blue"},
            Reason.PARTITION_INVALID,
            '"a" is not in rdma.io/network',
            id="a network that the pod does not ask for",
        ),
    ],
)
def test_a_partition_that_cannot_be_chosen_is_refused(
    text: str, annotations: dict[str, str], reason: Reason, problem: str
) -> None:
    """The names that there are stand in the message."""
    found = snapshot(parted("a"), plain("b"), partitions("blue", "red"))
    refusal = refused(selected(text, found, **annotations))
    assert refusal.reason is reason
    assert problem in refusal.message


def test_the_default_network_has_its_partition_by_its_own_name() -> None:
    """``NETWORK=NAME`` names the network, or the word that stands for it."""
    found = snapshot(plain("b"), policy(granted("b"), defaultNetwork="b"))
    assert isinstance(selected("default", found, partition="b=main"), Applicable)
    assert isinstance(selected("default", found, partition="default=main"), Applicable)
    nameless = snapshot(plain("b"), policy(granted("b")))
    assert refused(selected("b", nameless, partition="default=main")).reason is (
        Reason.PARTITION_INVALID
    )
