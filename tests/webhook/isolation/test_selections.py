"""Network selections that a pod's author wrote."""

from typing import Any

import pytest

from policies.refusal import Notice, Pending, Reason, Refusal
from tests.harness.cluster import GRANTS, cluster, granted, nad
from tests.harness.pods import case, pod
from webhook.isolation import selections

KEY = "k8s.v1.cni.cncf.io/networks"
DEFAULT_KEY = "v1.multus-cni.io/default-network"
R0, R1 = "rdma-roce-r0-v0210", "rdma-roce-r1-v0210"
TOKENS = (granted("tokens"),)
Found = Refusal | Pending | Notice


def check(value: str, network: str = "tokens", key: str = KEY, **spec: Any) -> list[Found]:  # noqa: ANN401
    """Return what is found in a pod with a selection, under a policy that differs in ``spec``."""
    snapshot = cluster(nad("broken", type=""), **spec)
    return list(selections.check(case(pod(network, annotations={key: value}), snapshot)))


def reasons(found: list[Found]) -> list[Reason]:
    """Return the reasons of refusals; nothing else may be among them."""
    assert all(isinstance(one, Refusal) for one in found), found
    return [one.reason for one in found if isinstance(one, Refusal)]


@pytest.mark.parametrize(
    ("value", "network"),
    [
        pytest.param("", "tokens", id="none"),
        pytest.param("storage", "tokens", id="a network of storage"),
        pytest.param('[{"name":"storage","mac":"02:00:00:00:00:01"}]', "tokens", id="with a MAC"),
        pytest.param(f"{R0}, {R1}@mine", "roce", id="what the annotation asks for"),
        pytest.param(f"{R0},{R0}", "roce:3", id="as often as the annotation asks for it"),
    ],
)
def test_what_may_be_selected(value: str, network: str) -> None:
    """A NAD that leads onto no fabric is none of our business; one that is asked for is that."""
    assert check(value, network) == []


@pytest.mark.parametrize("enforcement", ["Enforce", "Warn", "Audit"])
@pytest.mark.parametrize(
    ("value", "network", "spec", "reason"),
    [
        pytest.param(
            R0, "tokens", {"grants": TOKENS}, Reason.RAW_NETWORK_DENIED, id="a fabric not granted"
        ),
        pytest.param(
            "broken", "tokens", {}, Reason.RAW_NETWORK_DENIED, id="a NAD that says nothing"
        ),
        pytest.param(
            "team-b/rival",
            "tokens",
            {},
            Reason.FOREIGN_NETWORK_DENIED,
            id="another tenant's fabric",
        ),
        pytest.param(
            f'[{{"name":"{R0}","cni-args":{{"vlan":999}}}}]',
            "roce",
            {},
            Reason.SELECTION_KEY_DENIED,
            id="a VLAN beside what is asked for",
        ),
        pytest.param(
            f'[{{"name":"{R0}","mac":""}}]',
            "tokens",
            {"rawNetworks": "Allow"},
            Reason.SELECTION_KEY_DENIED,
            id="a key on a fabric selected by hand",
        ),
        pytest.param(
            '[{"name":"storage","deviceID":"0000:17:00.0"}]',
            "tokens",
            {},
            Reason.SELECTION_KEY_DENIED,
            id="a device of the node on any network",
        ),
    ],
)
def test_content_and_other_namespaces_are_never_softened(
    value: str, network: str, spec: dict[str, Any], reason: Reason, enforcement: str
) -> None:
    """What reaches another tenant's fabric is refused at every level."""
    assert reasons(check(value, network, enforcement=enforcement, **spec)) == [reason]


@pytest.mark.parametrize(
    ("enforcement", "kind"), [("Enforce", Refusal), ("Warn", Notice), ("Audit", Notice)]
)
def test_a_granted_fabric_by_hand_is_the_pods_own_right(enforcement: str, kind: type) -> None:
    """The author is pointed to the annotation."""
    (found,) = check(R0, enforcement=enforcement)
    assert isinstance(found, Refusal | Notice)
    assert type(found) is kind
    if isinstance(found, Refusal):
        assert "the pod's author can ask for roce in rdma.io/network" in found.message


def test_the_policy_may_allow_it() -> None:
    """With rawNetworks: Allow a granted fabric may be selected by hand."""
    assert check(f"{R0}, rdma-ib-r0-p0011", rawNetworks="Allow") == []


def test_a_network_that_cannot_be_offered_is_not_granted() -> None:
    """A grant whose NADs are not all there opens none of them."""
    (found,) = check(
        R0, rawNetworks="Allow", without=[("NetworkAttachmentDefinition", "team-a", R1)]
    )
    assert isinstance(found, Refusal)
    assert found.reason is Reason.RAW_NETWORK_DENIED


@pytest.mark.parametrize(
    ("value", "network", "raw", "expected"),
    [
        pytest.param(f"{R0},{R0}", "roce:1", "Deny", [Reason.RAW_NETWORK_DENIED], id="once more"),
        pytest.param(f"{R0},{R0}", "roce:1", "Allow", [], id="once more, within maxPerPod"),
        pytest.param(
            ",".join([R0] * 3),
            "roce:1",
            "Allow",
            [Reason.ATTACHMENTS_OVER_LIMIT],
            id="more often than maxPerPod",
        ),
        pytest.param(
            f"{R0},{R1}@b,{R1}@c",
            "tokens",
            "Allow",
            [Reason.ATTACHMENTS_OVER_LIMIT],
            id="by hand alone",
        ),
        pytest.param(
            f"{R1},{R1}", "roce:1", "Allow", [Reason.ATTACHMENTS_OVER_LIMIT], id="of another rail"
        ),
    ],
)
def test_what_is_selected_beyond_the_annotation_counts(
    value: str, network: str, raw: str, expected: list[Reason]
) -> None:
    """An element is an attachment of the annotation once; each further one is by hand."""
    grants = (granted("roce", 210, maxPerPod=2), *GRANTS[1:])
    assert reasons(check(value, network, rawNetworks=raw, grants=grants)) == expected


def test_the_limit_is_the_pods_own_right() -> None:
    """Below Enforce too many by hand are told."""
    grants = (granted("roce", 210, maxPerPod=1),)
    found = check(f"{R0},{R0}", "roce:1", enforcement="Warn", rawNetworks="Allow", grants=grants)
    assert [type(one) for one in found] == [Notice]
    assert "2 of network roce, maxPerPod is 1" in str(found[0])


def test_a_nad_that_is_not_there_is_waited_for() -> None:
    """Multus would fail the pod; a NAD may also arrive a moment later."""
    (found,) = check("absent")
    assert isinstance(found, Pending)
    assert (found.kind, found.namespace, found.name) == (
        "NetworkAttachmentDefinition",
        "team-a",
        "absent",
    )
    assert found.refusal.reason is Reason.SELECTION_NOT_FOUND


def test_nothing_is_told_of_another_namespace() -> None:
    """A NAD that is not there and one that leads onto a fabric get the same answer, at once."""
    (absent,) = check("team-x/absent")
    assert isinstance(absent, Refusal)
    assert absent.reason is Reason.FOREIGN_NETWORK_DENIED
    (governed,) = check("team-b/rival")
    assert isinstance(governed, Refusal)
    assert governed.message.replace("team-b/rival", "team-x/absent") == absent.message


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(f"team-a/{R0}", Reason.RAW_NETWORK_DENIED, id="of a fabric"),
        pytest.param("storage", Reason.FOREIGN_NETWORK_DENIED, id="of no namespace"),
    ],
)
def test_the_primary_network_is_judged_too(value: str, reason: Reason) -> None:
    """The other annotation replaces the pod's primary network, and is never an attachment."""
    found = check(value, "roce", DEFAULT_KEY)
    assert reasons(found) == [reason]
    assert DEFAULT_KEY in str(found[0])


def test_a_primary_network_of_no_fabric_may_be_selected() -> None:
    """A NAD that leads onto no fabric may be the primary network."""
    assert check("team-a/storage", "tokens", DEFAULT_KEY) == []
