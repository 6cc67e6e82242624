"""RDMAPolicy as a model: what cannot be written down at all."""

from typing import Any

import pytest

from policies.errors import InvalidObject
from policies.parse import parse
from policies.policy import Enforcement, PodSecurityConflict, RawNetworks, RDMAPolicy
from policies.shapes import Isolation
from tests.harness.cluster import granted, policy

Object = dict[str, Any]


def test_an_empty_policy_has_the_defaults_of_the_schema() -> None:
    """Install changes nothing: Warn, nothing granted, nothing opened."""
    spec = parse(RDMAPolicy, {"metadata": {}, "spec": {}}).spec
    assert (spec.enforcement, spec.networks, spec.tenant) == (Enforcement.WARN, (), None)
    assert (spec.raw_networks, spec.minimum_isolation) == (RawNetworks.DENY, Isolation.NONE)
    limits = spec.pod_limits
    assert (limits.capabilities, limits.host_network, limits.privileged) == (
        ("IPC_LOCK",),
        False,
        False,
    )
    assert (limits.host_paths, limits.pod_security_conflict) == ((), PodSecurityConflict.DENY)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        pytest.param(policy(enforcement="enforce"), "spec.enforcement", id="another letter case"),
        pytest.param(policy("A"), "spec.networks.0.name", id="a name that no network has"),
        pytest.param(policy(*(f"n{n}" for n in range(17))), "spec.networks", id="too many"),
        pytest.param(policy(granted("a", 0)), "partitions.0.number", id="number zero"),
        pytest.param(policy(granted("a", 0x10000)), "partitions.0.number", id="beyond 16 bits"),
        pytest.param(policy({"name": "a", "quota": -1}), "quota", id="a negative quota"),
        pytest.param(policy({"name": "a", "maxPerPod": "4"}), "maxPerPod", id="a number as text"),
        pytest.param(policy(tenant="a b"), "spec.tenant", id="a tenant with a space"),
        pytest.param(policy(podLimits={"hostPaths": ["dev"]}), "hostPaths", id="a relative path"),
        pytest.param(policy(podLimits={"hostNetwork": "yes"}), "hostNetwork", id="a loose yes"),
        pytest.param(
            policy(podLimits={"capabilities": ["CAP-X"]}), "capabilities", id="no capability"
        ),
        pytest.param(policy(podLimits={"sharedMemory": {}}), "sharedMemory.max", id="no maximum"),
    ],
)
def test_what_is_out_of_bounds_is_said_with_its_path(raw: Object, path: str) -> None:
    """Files are held to the bounds of the CRD."""
    with pytest.raises(InvalidObject, match=path):
        parse(RDMAPolicy, raw)
