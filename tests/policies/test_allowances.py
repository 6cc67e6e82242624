"""What the policy lets one pod have, and what becomes of a pod that wants more."""

from typing import Any

import pytest

from policies.allowances import Allowance, check, soften
from policies.defaults import Defaults, beside
from policies.refusal import Notice, Reason, Refusal
from policies.select import Applicable, select
from policies.subject import Subject
from tests.harness.cluster import labelled, network, policy, rail, snapshot
from tests.harness.subjects import subject, tenancy_of

Object = dict[str, Any]

DEVICES = network("train", "DeviceOnly", rail("r0", "rdma/ib"))
HOST = network("train", "HostNetwork", rail("r0", "rdma/ib"))


def allowed(
    *,
    fabric: Object = DEVICES,
    one: Subject | None = None,
    shm: str = "",
    total: int = 1,
    grant: Object | None = None,
    labels: Object | None = None,
    **spec: Any,  # noqa: ANN401 any field of the policy's spec
) -> Allowance | Refusal:
    """What the policy says to a pod on network train."""
    tenant = policy({"name": "train", **(grant or {})}, **spec)
    found = snapshot(fabric, tenant, *([labels] if labels else []))
    pod = one or subject("train", annotations={"rdma.io/shm-size": shm} if shm else {})
    applicable = select(pod, found)
    assert isinstance(applicable, Applicable)
    merged = beside(tuple(order.offer.defaults for order in applicable.orders))
    return check(applicable, merged, {"train": total}, found)


def allowance(found: Allowance | Refusal) -> Allowance:
    """The answer, which has to be a yes."""
    assert isinstance(found, Allowance)
    return found


def texts(found: Allowance | Refusal) -> list[str]:
    """What the author is told beside the yes."""
    return [one.text for one in allowance(found).notices]


def refused(found: Allowance | Refusal) -> Refusal:
    """The answer, which has to be a no."""
    assert isinstance(found, Refusal)
    return found


def test_a_pod_within_its_rights_gets_the_usual_without_a_word() -> None:
    """IPC_LOCK, 8Gi of shared memory, no notice."""
    assert allowed() == Allowance(("IPC_LOCK",), "8Gi", ())


OVERSTEPS = [
    pytest.param(
        {"total": 5, "grant": {"maxPerPod": 4}},
        Reason.ATTACHMENTS_OVER_LIMIT,
        "comes to 5 of network train, and maxPerPod of RDMAPolicy team-a/default is 4",
        "5 of network train, maxPerPod is 4",
        id="attachments",
    ),
    pytest.param(
        {"minimumIsolation": "Soft"},
        Reason.ISOLATION_TOO_WEAK,
        "network train (mode DeviceOnly) isolates tenants None, and minimumIsolation of "
        "RDMAPolicy team-a/default is Soft",
        "network train isolates None, wanted is Soft",
        id="isolation",
    ),
    pytest.param(
        {"shm": "65Gi", "podLimits": {"sharedMemory": {"max": "64Gi"}}},
        Reason.SHARED_MEMORY_OVER_LIMIT,
        "65Gi is above podLimits.sharedMemory.max 64Gi of RDMAPolicy team-a/default",
        "rdma.io/shm-size 65Gi is above sharedMemory.max 64Gi",
        id="shared memory",
    ),
]


@pytest.mark.parametrize(("case", "reason", "problem", "short"), OVERSTEPS)
def test_a_pod_that_oversteps_is_refused_where_the_policy_enforces(
    case: Object, reason: Reason, problem: str, short: str
) -> None:
    """Value and limit, and who can change which; what a warning would say fits one."""
    found = refused(allowed(**case))
    assert found.reason is reason
    assert problem in found.message
    assert "the platform admin can" in found.message
    assert found.short == short
    assert len(short) <= 80


@pytest.mark.parametrize("enforcement", ["Warn", "Audit"])
@pytest.mark.parametrize(("case", "reason", "problem", "short"), OVERSTEPS)
def test_a_pod_that_oversteps_is_admitted_elsewhere(
    case: Object, reason: Reason, problem: str, short: str, enforcement: str
) -> None:
    """It gets what it asked for, and the refusal that Enforce would have given as a notice."""
    found = allowance(allowed(**case, enforcement=enforcement))
    assert [one.not_enforced for one in found.notices] == [reason]
    assert [one.is_silent for one in found.notices] == [enforcement == "Audit"]
    assert [one.text for one in found.notices] == [f"{reason} (not enforced): {short}"]
    assert problem not in found.notices[0].text
    assert found.shared_memory == case.get("shm", "8Gi")


def test_all_that_a_pod_oversteps_is_warned_of() -> None:
    """One warning hides no other."""
    found = allowed(
        total=5,
        grant={"maxPerPod": 4},
        shm="2Gi",
        enforcement="Warn",
        minimumIsolation="Hard",
        podLimits={"sharedMemory": {"max": "1Gi"}},
    )
    assert [one.not_enforced for one in allowance(found).notices] == [
        "AttachmentsOverLimit",
        "IsolationTooWeak",
        "SharedMemoryOverLimit",
    ]


def test_what_is_to_be_dropped_is_not_added() -> None:
    """A capability in both lists is dropped, and the author is told."""
    found = allowed(podLimits={"requiredDrop": ["IPC_LOCK"]})
    assert allowance(found).add == ()
    assert texts(found) == ["IPC_LOCK not added: network or policy drops it"]


def test_a_refusal_softens_by_the_level_alone() -> None:
    """Enforce keeps it, Warn says what it would have been, Audit tells the audit log alone."""
    refusal = Refusal(Reason.RESOURCE_DENIED, "no")
    assert soften(tenancy_of(policy()), refusal) is refusal
    for level in ("Warn", "Audit"):
        assert soften(tenancy_of(policy(enforcement=level)), refusal) == Notice(
            "GovernedResourceDenied (not enforced): no",
            rank=1,
            not_enforced="GovernedResourceDenied",
            is_silent=level == "Audit",
        )


def test_what_is_exactly_at_the_limit_is_within() -> None:
    """Limits are the most, not the first too much; sizes are compared by value."""
    found = allowed(
        total=4,
        grant={"maxPerPod": 4},
        shm="1024Mi",
        podLimits={"sharedMemory": {"max": "1Gi"}},
    )
    assert allowance(found) == Allowance(("IPC_LOCK",), "1024Mi", ())


@pytest.mark.parametrize(
    ("default", "most", "size"),
    [
        pytest.param(None, None, "8Gi", id="what nobody says"),
        pytest.param("16Gi", None, "16Gi", id="the network's"),
        pytest.param("0", None, "", id="none by default"),
        pytest.param("16Gi", "4Gi", "4Gi", id="cut to the limit"),
        pytest.param(None, "4Gi", "4Gi", id="the usual size cut to the limit"),
        pytest.param("2Gi", "4Gi", "2Gi", id="below the limit"),
        pytest.param("0", "4Gi", "", id="none below a limit"),
        pytest.param(None, "0", "", id="a limit of nothing is none, never an unlimited volume"),
    ],
)
def test_shared_memory_by_default_stays_below_the_limit(
    default: str | None, most: str | None, size: str
) -> None:
    """A default is cut without a word: nobody asked for it."""
    found = allowed(
        podDefaults={"sharedMemory": default} if default else {},
        podLimits={"sharedMemory": {"max": most}} if most else {},
    )
    assert allowance(found) == Allowance(("IPC_LOCK",), size, ())


@pytest.mark.parametrize(
    ("wanted", "listed", "added", "notices"),
    [
        pytest.param(["IPC_LOCK"], ["IPC_LOCK"], ("IPC_LOCK",), [], id="what the limits list"),
        pytest.param([], ["IPC_LOCK"], (), [], id="an empty list is none"),
        pytest.param(
            ["IPC_LOCK", "NET_RAW", "SYS_NICE"],
            ["IPC_LOCK"],
            ("IPC_LOCK",),
            ["NET_RAW, SYS_NICE not added: podLimits.capabilities does not list it"],
            id="what they do not list is left out",
        ),
        pytest.param(
            None,
            [],
            (),
            ["IPC_LOCK not added: podLimits.capabilities does not list it"],
            id="even the usual one",
        ),
    ],
)
def test_capabilities_are_those_that_the_limits_list(
    wanted: list[str] | None, listed: list[str], added: tuple[str, ...], notices: list[str]
) -> None:
    """The pod is admitted, and told what it lacks."""
    found = allowed(
        podDefaults={"capabilities": {"add": wanted}} if wanted is not None else {},
        podLimits={"capabilities": listed},
    )
    assert allowance(found).add == added
    assert texts(found) == notices


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_a_capability_that_pod_security_forbids_is_refused_with_three_ways_out(level: str) -> None:
    """The API server would refuse the patched pod without a useful word."""
    found = refused(allowed(labels=labelled("team-a", enforce=level)))
    assert found.reason is Reason.POD_SECURITY_CONFLICT
    assert f"namespace team-a enforces Pod Security level {level}" in found.message
    for way in ("relax the level", "OmitCapabilities in RDMAPolicy team-a/default", "add: []"):
        assert way in found.message


def test_a_capability_that_pod_security_forbids_can_be_left_out() -> None:
    """As the policy says: the pod is admitted and warned; what is allowed is still added."""
    found = allowed(
        labels=labelled("team-a", enforce="baseline"),
        podDefaults={"capabilities": {"add": ["IPC_LOCK", "CHOWN"]}},
        podLimits={
            "capabilities": ["IPC_LOCK", "CHOWN"],
            "podSecurityConflict": "OmitCapabilities",
        },
    )
    assert allowance(found).add == ("CHOWN",)
    assert texts(found) == ["IPC_LOCK not added: Pod Security forbids it in this namespace"]


@pytest.mark.parametrize(
    ("labels", "spec"),
    [
        pytest.param(labelled("team-a", enforce="privileged"), {}, id="a level that allows all"),
        pytest.param(labelled("team-a", warn="restricted"), {}, id="a level that only warns"),
        pytest.param(labelled("team-b", enforce="restricted"), {}, id="another namespace's level"),
    ],
)
def test_pod_security_that_does_not_forbid_is_no_conflict(labels: Object, spec: Object) -> None:
    """Only an enforced level of the pod's own namespace counts."""
    assert allowance(allowed(labels=labels, **spec)).add == ("IPC_LOCK",)


def test_pod_security_has_no_say_where_nothing_is_added() -> None:
    """``add: []`` is one of the ways out."""
    found = allowed(
        labels=labelled("team-a", enforce="restricted"),
        podDefaults={"capabilities": {"add": []}},
    )
    assert allowance(found) == Allowance((), "8Gi", ())


def test_the_hosts_network_that_pod_security_forbids_is_refused() -> None:
    """We would set it, so we say it; a pod that sets it itself is the API server's business."""
    case: Object = {
        "fabric": HOST,
        "labels": labelled("team-a", enforce="baseline"),
        "podLimits": {"hostNetwork": True, "podSecurityConflict": "OmitCapabilities"},
    }
    found = refused(allowed(**case))
    assert found.reason is Reason.POD_SECURITY_CONFLICT
    assert "forbids the host network that network train uses" in found.message
    own = allowed(**case, one=subject("train", host_network=True))
    assert allowance(own).add == ()


def test_the_defaults_are_those_that_the_caller_merged() -> None:
    """Several networks have one answer."""
    found = snapshot(DEVICES, policy("train"))
    applicable = select(subject("train"), found)
    assert isinstance(applicable, Applicable)
    merged = Defaults(add=(), shared_memory="3Gi")
    assert check(applicable, merged, {"train": 1}, found) == Allowance((), "3Gi", ())
