"""Who may grant: users with different rights try every kind of change on a real API server.

All of them but admin own the namespace, so RBAC lets all of it through; the webhook runs, or not.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.api import MERGE_PATCH
from tests.harness.clients import ADMIN
from tests.harness.guarded import (
    GRANTS_ALL,
    GRANTS_MOST,
    GRANTS_NAMED,
    GRANTS_ONE,
    NETWORKS,
    TENANT,
    USERS,
    Guarded,
    entries,
    policies,
    policy,
)

Document = dict[str, Any]

DENIED = "ValidatingAdmissionPolicy 'rdma-grant' with binding 'rdma-grant' denied request: "

ALL = (ADMIN, GRANTS_ALL)
NAMED = (*ALL, GRANTS_NAMED)
MOST = (*NAMED, GRANTS_MOST)
ONE = (*MOST, GRANTS_ONE)
EVERYBODY = (*ONE, TENANT)


@pytest.fixture(scope="module", params=[True, False], ids=["webhook up", "webhook down"])
def state(guarded: Guarded, request: pytest.FixtureRequest) -> Iterator[Guarded]:
    """The cluster, with the webhook running, and then without it."""
    guarded.serve(up=request.param)
    yield guarded
    guarded.serve(up=True)


@pytest.fixture(scope="module")
def bare(guarded: Guarded) -> str:
    """A namespace without a policy."""
    return guarded.new_namespace()


def _entry(index: int, **more: object) -> Document:
    number = {"name": "main", "number": 200 + index}
    return {"name": NETWORKS[index], "maxPerPod": 2, "quota": 8, "partitions": [number], **more}


HELD: Document = {
    "tenant": "acme",
    "enforcement": "Enforce",
    "networks": [_entry(0), _entry(1), _entry(2)],
    "podDefaults": {"sharedMemory": "1Gi"},
    "podLimits": {"requiredDrop": ["NET_RAW"]},
}
"""What the policy holds that is changed below."""
FIRST, SECOND, THIRD = HELD["networks"]


@pytest.fixture(scope="module")
def held(guarded: Guarded) -> Document:
    """A policy as stored, which no test changes."""
    return guarded.create(guarded.new_namespace(), HELD)


def _passing(attempts: dict[str, tuple[int, Any]], said: str) -> tuple[str, ...]:
    """Who passed; everybody else heard why, and who can help."""
    for user, (status, answer) in attempts.items():
        if status >= 400:
            assert (status, answer["reason"]) == (403, "Forbidden"), answer
            assert DENIED + "RDMAPolicy owned-" in answer["message"]
            assert said in answer["message"]
            assert f", which user {user} lacks; a platform admin can give it" in answer["message"]
    return tuple(user for user, (status, _) in attempts.items() if status < 400)


CREATED = [
    ({"networks": entries(NETWORKS[0])}, ONE, "spec.networks[net-00]: "),
    ({"networks": entries(*NETWORKS[:3])}, MOST, "spec.networks[net-0"),
    ({"networks": entries(*NETWORKS[:15])}, MOST, "spec.networks[net-"),
    ({"networks": entries(*NETWORKS)}, NAMED, "spec.networks[net-"),
    ({"networks": entries(NETWORKS[15])}, NAMED, "rdmanetworks/net-15"),
    ({"networks": entries("no-such")}, ALL, "rdmanetworks/no-such"),
    ({}, ALL, "spec.networks: the first policy decides"),
    ({"networks": []}, ALL, "spec.networks: the first policy decides"),
    ({"networks": [], "rawNetworks": "Allow"}, ALL, "spec.rawNetworks: changing more"),
    ({"rawNetworks": "Allow"}, ALL, "spec.rawNetworks: changing more"),
    ({"networks": [], "podLimits": {"privileged": True}}, ALL, "spec.podLimits: changing"),
    *(
        ({"networks": entries(NETWORKS[0]), field: value}, ALL, "")
        for field, value in {
            "tenant": "globex",
            "enforcement": "Audit",
            "defaultNetwork": NETWORKS[0],
            "podDefaults": {"sharedMemory": "1Gi"},
            "podLimits": {"hostNetwork": True},
            "rawNetworks": "Allow",
            "minimumIsolation": "Soft",
        }.items()
    ),
    (
        {
            "networks": entries(NETWORKS[0]),
            "enforcement": "Warn",
            "rawNetworks": "Deny",
            "minimumIsolation": "None",
            "podLimits": {"privileged": False, "capabilities": ["IPC_LOCK"]},
        },
        ONE,
        "spec.networks[net-00]: ",
    ),
]


@pytest.mark.parametrize(("spec", "passing", "said"), CREATED, ids=str)
def test_a_first_policy_takes_a_grant_of_all_that_it_gives(
    state: Guarded, bare: str, spec: Document, passing: tuple[str, ...], said: str
) -> None:
    """Each network named takes its grant; more than the schema's defaults takes that of all."""
    attempts = {
        user: state.cluster.api("POST", f"{policies(bare)}?dryRun=All", policy(spec), user=user)
        for user in USERS
    }
    assert _passing(attempts, said) == passing


CHANGED = [
    ({}, EVERYBODY, ""),
    ({"networks": [FIRST, THIRD]}, EVERYBODY, ""),
    ({"networks": []}, EVERYBODY, ""),
    ({"networks": None}, EVERYBODY, ""),
    ({"networks": [THIRD, SECOND, FIRST]}, EVERYBODY, ""),
    ({"networks": [THIRD, {**FIRST, "quota": 9}]}, ONE, "spec.networks[net-00]: "),
    ({"networks": [{**FIRST, "maxPerPod": 3}, SECOND, THIRD]}, ONE, "spec.networks[net-00]: "),
    ({"networks": [FIRST, {**SECOND, "maxPerPod": 3}, THIRD]}, MOST, "spec.networks[net-01]: "),
    ({"networks": [FIRST, {**SECOND, "maxPerPod": None}, THIRD]}, MOST, "spec.networks[net-01]: "),
    ({"networks": [FIRST, SECOND, {**THIRD, "quota": 9}]}, MOST, "spec.networks[net-02]: "),
    ({"networks": [FIRST, SECOND, {**THIRD, "quota": None}]}, MOST, "spec.networks[net-02]: "),
    (
        {"networks": [FIRST, {**SECOND, "partitions": [{"name": "main", "number": 210}]}, THIRD]},
        MOST,
        "spec.networks[net-01]: ",
    ),
    (
        {
            "networks": [
                FIRST,
                {**SECOND, "partitions": [*SECOND["partitions"], {"name": "more", "number": 211}]},
            ]
        },
        MOST,
        "spec.networks[net-01]: ",
    ),
    ({"networks": [{**SECOND, "name": NETWORKS[0]}]}, ONE, "spec.networks[net-00]: "),
    ({"networks": [{**FIRST, "name": NETWORKS[3]}, SECOND]}, MOST, "rdmanetworks/net-03"),
    ({"networks": [_entry(index) for index in range(15)]}, MOST, "spec.networks[net-"),
    ({"networks": [_entry(index) for index in range(16)]}, NAMED, "spec.networks[net-"),
    ({"networks": [], "rawNetworks": "Allow"}, ALL, "spec.rawNetworks: changing"),
    *(
        ({field: value}, ALL, f"spec.{field}: changing more than networks takes")
        for field, value in (
            ("tenant", "globex"),
            ("tenant", None),
            ("enforcement", "Audit"),
            ("enforcement", None),
            ("defaultNetwork", NETWORKS[0]),
            ("podDefaults", None),
            ("podDefaults", {"sharedMemory": "2Gi"}),
            ("podLimits", {"requiredDrop": ["NET_RAW"], "privileged": True}),
            ("podLimits", None),
            ("rawNetworks", "Allow"),
            ("minimumIsolation", "Soft"),
        )
    ),
    (
        {"tenant": None, "podDefaults": {}, "minimumIsolation": "Hard"},
        ALL,
        "more than networks takes the verb grant on all rdmanetworks",
    ),
]


@pytest.mark.parametrize(("change", "passing", "said"), CHANGED, ids=str)
def test_a_change_takes_a_grant_of_what_it_adds(
    state: Guarded, held: Document, change: Document, passing: tuple[str, ...], said: str
) -> None:
    """Entries that are new or differ take their grants, other fields take that of all networks."""
    spec = {key: value for key, value in {**HELD, **change}.items() if value is not None}
    path = f"{policies(held['metadata']['namespace'])}/default"
    attempts = {
        user: state.replace(path, policy(spec), user=user, target="?dryRun=All") for user in USERS
    }
    assert _passing(attempts, said) == passing


@pytest.mark.parametrize("path", ["", "/default"], ids=["all of them", "by name"])
def test_a_deletion_takes_a_grant_of_all(state: Guarded, held: Document, path: str) -> None:
    """Without a policy a namespace is judged by the default, so its end is a change of all."""
    path = f"{policies(held['metadata']['namespace'])}{path}?dryRun=All"
    attempts = {user: state.cluster.api("DELETE", path, user=user) for user in USERS}
    assert _passing(attempts, "/default: deleting it takes the verb grant on all") == ALL


def _largest(value: str) -> Document:
    """A policy that is full to the schema's bounds; another value changes every entry of it."""
    partitions = [{"name": f"{value}-{number}", "number": 1 + number} for number in range(16)]
    variables, fixed = (
        [{"name": f"{letter}{index}", "value": value * 1024} for index in range(64)]
        for letter in "VW"
    )
    return {
        "networks": [{"name": name, "partitions": partitions} for name in NETWORKS],
        "podDefaults": {"env": variables},
        "podLimits": {
            "env": fixed,
            "hostPaths": [f"/{index:02}{value * 4000}" for index in range(64)],
        },
    }


def test_the_largest_policy_is_within_the_budget(state: Guarded) -> None:
    """CEL that costs too much would refuse everybody, and here it is the rights that decide."""
    namespace = state.new_namespace()
    state.create(namespace, _largest("a"))
    path = f"{policies(namespace)}/default?dryRun=All"
    attempts = {
        user: state.cluster.api(
            "PATCH", path, {"spec": _largest("b")}, user=user, content_type=MERGE_PATCH
        )
        for user in USERS
    }
    assert _passing(attempts, "takes the verb grant on") == ALL
