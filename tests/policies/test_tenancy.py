"""What one tenant may have, in compact form."""

from typing import Any

import pytest

from policies import tenancy
from policies.defaults import NOTHING, Defaults
from policies.errors import InvalidObject
from policies.shapes import Isolation
from policies.tenancy import Grant, Limits
from tests.harness.cluster import granted, policy
from tests.harness.subjects import tenancy_of

Object = dict[str, Any]


def test_a_policy_that_says_nothing_has_the_defaults_of_its_schema() -> None:
    """Warn, no network, IPC_LOCK and nothing else."""
    found = tenancy_of({"metadata": {"namespace": "team-a", "name": "default"}, "spec": {}})
    assert (found.enforcement, found.enforces, found.default_network) == ("Warn", False, None)
    assert (found.grants, found.defaults, found.generation) == ((), NOTHING, 0)
    assert found.limits == Limits(("IPC_LOCK",), None, (), False, False, (), False)  # noqa: FBT003
    assert (found.allows_raw_networks, found.minimum_isolation) == (False, Isolation.NONE)


def test_everything_that_a_policy_says_is_kept() -> None:
    """Grants with their partitions, defaults and limits."""
    found = tenancy_of(
        policy(
            granted("train", 210, maxPerPod=4),
            tenant="acme",
            defaultNetwork="train",
            podDefaults={"env": [{"name": "A", "value": "1"}]},
            podLimits={
                "capabilities": ["NET_RAW"],
                "sharedMemory": {"max": "64Gi"},
                "env": [{"name": "B", "value": "2"}],
                "hostNetwork": True,
                "privileged": True,
                "requiredDrop": ["NET_ADMIN"],
                "podSecurityConflict": "OmitCapabilities",
            },
            rawNetworks="Allow",
            minimumIsolation="Hard",
        )
    )
    assert (found.tenant, found.default_network, found.enforces) == ("acme", "train", True)
    assert found.grants == (Grant("train", 4, (("main", 210),)),)
    assert found.defaults == Defaults(env=(("A", "1"),))
    assert found.limits == Limits(
        capabilities=("NET_RAW",),
        shared_memory="64Gi",
        env=(("B", "2"),),
        host_network=True,
        privileged=True,
        required_drop=("NET_ADMIN",),
        omit_capabilities=True,
    )
    assert (found.allows_raw_networks, found.minimum_isolation) == (True, Isolation.HARD)
    assert found.title == "RDMAPolicy team-a/default"


def test_a_tenant_without_a_name_is_its_namespace() -> None:
    """It holds a slash, so that no policy can name itself into it."""
    assert tenancy_of(policy()).tenant == "namespace/team-a"


@pytest.mark.parametrize("name", ["namespace/team-a", "a b", ""])
def test_a_tenant_has_no_slash_and_no_space(name: str) -> None:
    """No namespace can name itself into another's."""
    with pytest.raises(InvalidObject, match=r"spec\.tenant"):
        tenancy_of(policy(tenant=name))


def test_a_grant_is_found_by_its_network() -> None:
    """What is not granted has none."""
    found = tenancy_of(policy("a", "b"))
    assert found.grant("b") == Grant("b", None, ())
    assert found.grant("c") is None


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        pytest.param(
            policy("a", defaultNetwork="b"),
            "RDMAPolicy team-a/default: spec.defaultNetwork: b is not in spec.networks",
            id="a default that is not granted",
        ),
        pytest.param(
            policy("a", "b", "a"),
            "RDMAPolicy team-a/default: spec.networks: name a occurs twice",
            id="a network twice",
        ),
        pytest.param(
            policy({"name": "a", "partitions": [{"name": "x"}, {"name": "x"}]}),
            "RDMAPolicy team-a/default: spec.networks[a].partitions: name x occurs twice",
            id="a partition twice",
        ),
    ],
)
def test_a_policy_that_contradicts_itself_is_invalid(raw: Object, sentence: str) -> None:
    """The message names object, path and problem."""
    with pytest.raises(InvalidObject) as caught:
        tenancy_of(raw)
    assert str(caught.value).startswith(sentence)


def test_equal_limits_are_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand tenants with the same limits hold them once; what is kept is bounded."""
    monkeypatch.setattr(tenancy, "_KNOWN_LIMITS", {})
    monkeypatch.setattr(tenancy, "_MOST_LIMITS", 2)
    first = tenancy_of(policy(podLimits={"privileged": True}))
    assert tenancy_of(policy("a", podLimits={"privileged": True})).limits is first.limits
    for capability in ("A", "B", "C"):
        tenancy_of(policy(podLimits={"capabilities": [capability]}))
        assert len(tenancy._KNOWN_LIMITS) <= 2  # noqa: SLF001 - the bound is the promise
    assert tenancy_of(policy(podLimits={"privileged": True})).limits == first.limits
