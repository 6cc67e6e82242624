"""CEL rules of ``podDefaults``, which networks and policies have: what no pod could be given."""

from collections.abc import Iterator

from policies.accept_defaults import CAPABILITY_PREFIX, HUGEPAGES_PATTERN
from policies.manifests.validations import FORBIDDEN, Rule
from policies.names import HUGEPAGES_PREFIX
from policies.shapes import LABEL_KEY_PATTERN

_AT = "spec.podDefaults"


def pod_defaults_rules() -> Iterator[Rule]:
    """Return the rules of ``podDefaults``."""
    yield from capability_rules(f"{_AT}.capabilities.add", f"{_AT}.capabilities.drop")
    yield Rule(
        at=f"{_AT}.capabilities",
        cel="!has(self.add) || !has(self.drop) || !self.add.exists(c, c in self.drop)",
        message="a capability cannot be both added and dropped",
    )
    yield from _hugepages_rules()
    yield Rule(
        at=f"{_AT}.nodeSelector",
        cel=f"self.all(key, key.matches('{LABEL_KEY_PATTERN}'))",
        message="a key is that of a node's label, NAME or PREFIX/NAME, such as example.com/rdma",
    )
    yield from _toleration_rules()


def capability_rules(*lists: str) -> Iterator[Rule]:
    """Return the rule of how capabilities are spelled, for each list at some paths."""
    for at in lists:
        yield Rule(
            at=f"{at}.[]",
            cel=f"!self.startsWith('{CAPABILITY_PREFIX}')",
            message="a capability is written as in a pod, without CAP_: IPC_LOCK",
        )


def _hugepages_rules() -> Iterator[Rule]:
    """Return the rules of sizes and amounts; a number may stand for a quantity's text."""
    amount = "quantity(string(self[size]))"
    page = f"quantity(size.substring({len(HUGEPAGES_PREFIX)}))"
    yield Rule(
        at=f"{_AT}.hugepages",
        cel=f"self.all(size, size.matches('{HUGEPAGES_PATTERN}'))",
        message="a size of huge pages is written as in a pod: hugepages-2Mi",
    )
    yield Rule(
        at=f"{_AT}.hugepages",
        cel=f"self.all(size, !size.matches('{HUGEPAGES_PATTERN}') || ({amount}.isInteger() && "
        f"{amount}.asInteger() % {page}.asInteger() == 0))",
        message="the amount of huge pages is a multiple of their size: hugepages-2Mi: 5120Mi",
    )


def _toleration_rules() -> Iterator[Rule]:
    at = f"{_AT}.tolerations.[]"
    yield Rule(
        at=at,
        cel="!has(self.operator) || self.operator != 'Exists' || !has(self.value) || "
        "self.value == ''",
        message="operator Exists takes any value: write operator Equal, or no value",
        field=".value",
        reason=FORBIDDEN,
    )
    yield Rule(
        at=at,
        cel="(has(self.key) && self.key != '') || "
        "(has(self.operator) && self.operator == 'Exists')",
        message="without key a toleration is for every taint, and needs operator Exists",
        field=".operator",
    )
    yield Rule(
        at=at,
        cel="!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        message="tolerationSeconds is for effect NoExecute only",
        field=".tolerationSeconds",
        reason=FORBIDDEN,
    )
