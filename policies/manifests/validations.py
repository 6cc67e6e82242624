"""CEL rules for the contradictions that one object of ours can hold, each with its own message.

The API server checks them when a file is applied, so that nobody learns from a pod that a network
cannot work. Rules that need a second object are not here; those of an RDMANetwork, which are many,
are in ``network_validations.py``.

Costs: the API server estimates a rule from the bounds in the schema, and refuses a CRD whose rules
may cost too much. ``'%x'.format`` is far above that limit; indexing a list of digits is not.
Source: Kubernetes documentation, "Validation rules".
"""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.names import POLICY_NAME
from policies.partition import DEFAULT_PKEY, MAX_VLAN, MEMBERSHIP_BIT, PKEY_BITS

ITEMS = "[]"
"""In a path: any entry of the list before it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of ``x-kubernetes-validations``, and where it belongs.

    Attributes:
        at: Path of the node that is ``self``, from the root: ``spec.rails.[]``; empty is the root.
        cel: True where the object is right.
        message: Said where it is not; says what to do.
        field: Path below ``self`` that the message is about, with a leading dot.
        reason: ``FieldValueForbidden`` and such; the API server's default is invalid.
        expression: CEL for a message with values in it; ``message`` is said if that fails.
    """

    at: str
    cel: str
    message: str
    field: str = ""
    reason: str = ""
    expression: str = ""

    def as_validation(self) -> dict[str, str]:
        """Return the entry as it stands in the CRD."""
        given = {
            "rule": self.cel,
            "message": self.message,
            "fieldPath": self.field,
            "reason": self.reason,
            "messageExpression": self.expression,
        }
        return {key: value for key, value in given.items() if value}


FORBIDDEN = "FieldValueForbidden"
REQUIRED = "FieldValueRequired"
_DECIMAL = "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']"
_HEX = f"{_DECIMAL[:-1]}, 'a', 'b', 'c', 'd', 'e', 'f']"


def policy_rules() -> Iterator[Rule]:
    """Return the rules of an RDMAPolicy."""
    yield Rule(
        at="",
        cel=f"self.metadata.name == '{POLICY_NAME}'",
        message=f"an RDMAPolicy is named {POLICY_NAME}: there is exactly one in a namespace",
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
    yield from number_rules("spec.networks.[].partitions.[].number")
    yield from pod_defaults_rules()


def partition_rules() -> Iterator[Rule]:
    """Return the rules of an RDMAPartition."""
    vlan = f"'vlan.' + {_digits('self.spec.number', _DECIMAL)}"
    pkey = f"'pkey.' + {_digits('self.spec.number', _HEX)}"
    name = f"self.spec.fabric + '.' + (self.spec.type == 'VLAN' ? {vlan} : {pkey})"
    yield Rule(
        at="",
        cel=f"self.metadata.name == {name}",
        message="the name is made of fabric, type and number, so that a number has one holder: "
        "leaf-eth.vlan.0210 or ib-a.pkey.0011",
        expression=f"'the name has to be ' + {name} + ', so that a number has one holder'",
    )
    yield Rule(
        at="spec",
        cel="self == oldSelf",
        message="a claim never changes: delete it, and make another",
        reason=FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel=f"self.type != 'VLAN' || self.number <= {MAX_VLAN}",
        message=f"a VLAN is at most {MAX_VLAN}",
        field=".number",
    )
    yield from number_rules("spec.number")


def number_rules(at: str) -> Iterator[Rule]:
    """Return what holds for every number: no VLAN comes near, so a PKey is meant."""
    unusable = (DEFAULT_PKEY, MEMBERSHIP_BIT, PKEY_BITS)
    yield Rule(
        at=at,
        cel=f"!(self in {list(unusable)})",
        message=f"PKey {DEFAULT_PKEY:#x} is the default partition, which every port is in, and 0x0 "
        "is invalid: neither can be a tenant's",
    )
    yield Rule(
        at=at,
        cel=f"self < {MEMBERSHIP_BIT} || self in {[MEMBERSHIP_BIT, PKEY_BITS]}",
        message="0x8000 is the membership bit; write the number without it",
        expression=f"'0x8000 is set: that is the membership bit; write 0x' + "
        f"{_digits(f'(self - {MEMBERSHIP_BIT})', _HEX)}",
    )


def pod_defaults_rules() -> Iterator[Rule]:
    """Return the rules of ``podDefaults``, which networks and policies have."""
    yield Rule(
        at="spec.podDefaults.capabilities",
        cel="!has(self.add) || !has(self.drop) || !self.add.exists(c, c in self.drop)",
        message="a capability cannot be both added and dropped",
    )
    yield Rule(
        at="spec.podDefaults.hugepages",
        cel="self.all(size, size.startsWith('hugepages-'))",
        message="a size of huge pages is written as in a pod: hugepages-2Mi",
    )


def _digits(number: str, digits: str) -> str:
    """Return CEL for the last four digits of a number, in the base of the digits."""
    base = digits.count("'") // 2
    places = (f"{digits}[{number} / {base**place} % {base}]" for place in (3, 2, 1, 0))
    return " + ".join(places)
