"""CEL rules for the contradictions that one RDMAPolicy can hold.

``accept_policy.py`` judges the same for objects that are read from files.
"""

from collections.abc import Iterator

from policies.manifests.pod_defaults_validations import capability_rules, pod_defaults_rules
from policies.manifests.validations import FORBIDDEN, NAME, Rule, pkey_rules
from policies.names import DEFAULT_NETWORK_WORD, POLICY_NAME
from policies.shapes import MAX_RAILS

_LIMITS = "spec.podLimits"


def policy_rules() -> Iterator[Rule]:
    """Return the rules of an RDMAPolicy."""
    yield Rule(
        at="",
        cel=f"self.metadata.name == '{POLICY_NAME}'",
        message=f"an RDMAPolicy is named {POLICY_NAME}: there is exactly one in a namespace",
        field=NAME,
    )
    yield Rule(
        at="spec.tenant",
        cel="!self.contains('/')",
        message="a tenant's name holds no slash: namespace/NAME is what a namespace without tenant "
        "is called",
    )
    yield Rule(
        at="spec",
        cel=(
            "!has(self.defaultNetwork) || "
            "(has(self.networks) && self.networks.exists(n, n.name == self.defaultNetwork))"
        ),
        message="the default network has to be one of networks",
        field=".defaultNetwork",
    )
    yield from _grant_rules()
    yield from pod_defaults_rules()
    yield from _limit_rules()
    yield from _beyond_limits()


def _grant_rules() -> Iterator[Rule]:
    at = "spec.networks.[]"
    yield Rule(
        at=f"{at}.name",
        cel=f"self != '{DEFAULT_NETWORK_WORD}'",
        message=f"no network is named {DEFAULT_NETWORK_WORD}: in rdma.io/network that is the word "
        "for defaultNetwork",
    )
    yield Rule(
        at=at,
        cel="!has(self.maxPerPod) || !has(self.quota) || "
        f"self.maxPerPod <= {MAX_RAILS} * self.quota",
        message="quota counts on each rail by itself, of which a network has at most "
        f"{MAX_RAILS}: no pod could get maxPerPod",
        field=".maxPerPod",
    )
    yield Rule(
        at=at,
        cel="!has(self.partitions) || self.partitions.all(p, !has(p.number) || "
        "self.partitions.exists_one(q, has(q.number) && q.number == p.number))",
        message="two partitions have one number: a number is one partition, with one name",
        field=".partitions",
    )
    yield from pkey_rules(f"{at}.partitions.[].number", "self")


def _limit_rules() -> Iterator[Rule]:
    yield from capability_rules(f"{_LIMITS}.capabilities", f"{_LIMITS}.requiredDrop")
    yield Rule(
        at=_LIMITS,
        cel="!has(self.requiredDrop) || !has(self.capabilities) || "
        "!self.requiredDrop.exists(c, c in self.capabilities)",
        message="a capability is either one that may be added (capabilities, IPC_LOCK where it is "
        "absent) or one that must be dropped",
        field=".requiredDrop",
    )
    yield Rule(
        at=f"{_LIMITS}.hostPaths.[]",
        cel="!(self.endsWith('/*') ? self.substring(0, self.size() - 1) : self).contains('*')",
        message="a * stands only at the end, as /*, for anything below: /data/*",
    )
    yield Rule(
        at=f"{_LIMITS}.hostPaths.[]",
        cel="!self.contains('//') && !self.matches('/[.][.]?(/|$)') && "
        "(self == '/' || !self.endsWith('/'))",
        message="write the path as the kernel resolves it: without //, /./, /../ and / at its end",
    )


def _beyond_limits() -> Iterator[Rule]:
    """Return the rules for defaults that the policy's own limits would take away again."""
    yield Rule(
        at="spec",
        cel="!has(self.podDefaults) || !has(self.podDefaults.capabilities) || "
        "!has(self.podDefaults.capabilities.add) || !has(self.podLimits) || "
        "!has(self.podLimits.capabilities) || "
        "self.podDefaults.capabilities.add.all(c, c in self.podLimits.capabilities)",
        message="a capability added by default has to be in podLimits.capabilities, which is "
        "IPC_LOCK where it is absent",
        field=".podDefaults.capabilities.add",
        reason=FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel="!has(self.podDefaults) || !has(self.podDefaults.sharedMemory) || "
        "!has(self.podLimits) || !has(self.podLimits.sharedMemory) || "
        "quantity(string(self.podDefaults.sharedMemory)).compareTo("
        "quantity(string(self.podLimits.sharedMemory.max))) <= 0",
        message="the default is above podLimits.sharedMemory.max",
        field=".podDefaults.sharedMemory",
    )
    yield Rule(
        at="spec",
        cel="!has(self.podDefaults) || !has(self.podDefaults.env) || !has(self.podLimits) || "
        "!has(self.podLimits.env) || self.podDefaults.env.all(variable, "
        "!self.podLimits.env.exists(fixed, fixed.name == variable.name))",
        message="a variable has either a default or, in podLimits.env, a fixed value",
        field=".podDefaults.env",
    )
