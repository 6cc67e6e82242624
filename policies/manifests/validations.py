"""CEL rules for the contradictions that one object of ours can hold, each with its own message.

The API server checks them when a file is applied, so that nobody learns from a pod that a network
cannot work. Rules that need a second object are not here. What is here is shared, or about an
RDMAPartition; networks, rails, policies and ``podDefaults`` have modules of their own.
``accept.py`` and its neighbours judge the same for objects that are read from files.

Costs: the API server estimates a rule from the bounds in the schema, and refuses a CRD whose rules
may cost too much. ``'%x'.format`` is far above that limit; indexing a list of digits is not.
Source: Kubernetes documentation, "Validation rules".
"""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.partition import DEFAULT_PKEY, MAX_VLAN, MEMBERSHIP_BIT, NAMESPACE_TENANT
from policies.shapes import PKEY_BITS

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
NAME = ".metadata.name"
"""The one field of metadata that a rule at the root can be about."""
_DECIMAL = "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']"
_HEX = f"{_DECIMAL[:-1]}, 'a', 'b', 'c', 'd', 'e', 'f']"


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
        field=NAME,
        expression=f"'the name has to be ' + {name} + ', so that a number has one holder'",
    )
    yield Rule(
        at="spec",
        cel="self == oldSelf",
        message="a claim never changes: delete it, and make another",
        reason=FORBIDDEN,
    )
    yield from typed_number_rules("spec", "number", is_required=True)
    yield Rule(
        at="spec.tenant",
        cel=f"!self.contains('/') || self.matches('{NAMESPACE_TENANT}')",
        message="a tenant's name holds no slash, unless it is namespace/NAME, which is what a "
        "namespace without tenant is called",
    )


def typed_number_rules(at: str, field: str, *, is_required: bool = False) -> Iterator[Rule]:
    """Return the rules of a number whose type stands beside it."""
    given = "" if is_required else f"has(self.{field}) && "
    yield Rule(
        at=at,
        cel=f"!({given}self.type == 'VLAN') || self.{field} <= {MAX_VLAN}",
        message=f"a VLAN is at most {MAX_VLAN}",
        field=f".{field}",
    )
    yield from pkey_rules(at, f"self.{field}", f"{given}self.type == 'PKey'", f".{field}")


def pkey_rules(at: str, number: str, when: str = "", field: str = "") -> Iterator[Rule]:
    """Return what holds for every PKey; no VLAN comes near, so numbers of no type may be judged.

    Args:
        at: Path of ``self``.
        number: CEL for the number.
        when: CEL that is true where there is one, and it is a PKey; empty for always.
        field: Path of the number below ``self``.
    """
    unusable = (DEFAULT_PKEY, MEMBERSHIP_BIT, PKEY_BITS)
    otherwise = f"!({when}) || " if when else ""
    yield Rule(
        at=at,
        cel=f"{otherwise}!({number} in {list(unusable)})",
        message=f"PKey {DEFAULT_PKEY:#x} is the default partition, which every port is in, and 0x0 "
        "is invalid: neither can be a tenant's",
        field=field,
    )
    yield Rule(
        at=at,
        cel=f"{otherwise}{number} < {MEMBERSHIP_BIT} || {number} in {[MEMBERSHIP_BIT, PKEY_BITS]}",
        message="0x8000 is the membership bit; write the number without it",
        field=field,
        expression=f"'0x8000 is set: that is the membership bit; write 0x' + "
        f"{_digits(f'({number} - {MEMBERSHIP_BIT})', _HEX)}",
    )


def _digits(number: str, digits: str) -> str:
    """Return CEL for the last four digits of a number, in the base of the digits."""
    base = digits.count("'") // 2
    places = (f"{digits}[{number} / {base**place} % {base}]" for place in (3, 2, 1, 0))
    return " + ".join(places)
