"""CEL rules for the contradictions that one object of ours can hold, each with its own message.

The API server checks them when a file is applied, so that nobody learns from a pod that a network
cannot work. ``accept.py`` states the same for objects read from files; what both decide by (which
mode carries what) stands there. Rules that need a second object are not here.

Costs: the API server estimates a rule from the bounds in the schema, and refuses a CRD whose rules
may cost too much. ``'%x'.format`` is far above that limit; indexing a list of digits is not.
Source: Kubernetes documentation, "Validation rules".
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from policies.accept import MULTUS_MODES, ONE_PER_RAIL_MODES, PARTITION_OF
from policies.names import DEFAULT_NETWORK_WORD, POLICY_NAME
from policies.network import Mode
from policies.partition import DEFAULT_PKEY, MAX_VLAN, MEMBERSHIP_BIT, PKEY_BITS
from policies.shapes import PartitionType

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


FORBIDDEN_KEYS: Mapping[str, str] = {
    "type": "spec.mode decides the CNI plugin",
    "name": "the name of a network attachment is made of network, rail and partition",
    "cniVersion": "the CNI version is that of the rendered configuration",
    "master": "write it as master of the rail",
    "vlan": "a VLAN comes from the tenant's partition",
    "pkey": "a PKey comes from the tenant's partition",
    "deviceID": "the device is the one that the kubelet hands out",
    "resourceName": "write it as resourceName of the rail",
    "plugins": "a template holds further keys of one plugin, not a chain",
}
"""Keys that a template may not hold, as CNI spells them, and why."""

_FORBIDDEN = "FieldValueForbidden"
_REQUIRED = "FieldValueRequired"
_DECIMAL = "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']"
_HEX = f"{_DECIMAL[:-1]}, 'a', 'b', 'c', 'd', 'e', 'f']"
_NUMBERED = ("min", "max")


def network_rules() -> Iterator[Rule]:
    """Return the rules of an RDMANetwork."""
    yield from _name_rules()
    yield from _fixed_rules()
    yield from _count_rules()
    yield from _partition_rules()
    yield from _rail_rules()
    yield from _master_rules()
    yield from _template_rules()
    yield from _pod_defaults_rules()


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
    yield from _number_rules("spec.networks.[].partitions.[].number")
    yield from _pod_defaults_rules()


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
        reason=_FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel=f"self.type != 'VLAN' || self.number <= {MAX_VLAN}",
        message=f"a VLAN is at most {MAX_VLAN}",
        field=".number",
    )
    yield from _number_rules("spec.number")


def _name_rules() -> Iterator[Rule]:
    yield Rule(
        at="",
        cel="self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",
        message="a network's name is a DNS label: at most 63 characters and no dot, since it is "
        "written in annotations, labels and names",
    )
    yield Rule(
        at="",
        cel=f"self.metadata.name != '{DEFAULT_NETWORK_WORD}'",
        message=f"in rdma.io/network the word {DEFAULT_NETWORK_WORD} means the policy's default "
        "network; choose another name",
    )


def _fixed_rules() -> Iterator[Rule]:
    yield Rule(
        at="",
        cel="(has(self.spec.fabric) ? self.spec.fabric : self.metadata.name) == "
        "(has(oldSelf.spec.fabric) ? oldSelf.spec.fabric : oldSelf.metadata.name)",
        message="fabric is immutable: numbers are claimed in it",
        field=".spec.fabric",
        reason=_FORBIDDEN,
    )
    yield Rule(
        at="spec.mode",
        cel="self == oldSelf",
        message="mode is immutable: make another network, grant it, then delete this one",
        reason=_FORBIDDEN,
    )
    yield Rule(
        at="spec.partition.type",
        cel="self == oldSelf",
        message="the type of a partition is immutable",
        reason=_FORBIDDEN,
    )


def _count_rules() -> Iterator[Rule]:
    yield Rule(
        at="spec",
        cel="!has(self.count) || !has(self.perAccelerator)",
        message="count and perAccelerator exclude each other: only one can say what a network's "
        "bare name means",
        field=".perAccelerator",
        reason=_FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel=f"!({_is_any('self.mode', ONE_PER_RAIL_MODES)}) || !has(self.count) || "
        "type(self.count) != int || int(self.count) <= self.rails.size()",
        message=f"{_listed(ONE_PER_RAIL_MODES)} attach a pod once to a rail: count is at most the "
        "number of rails",
        field=".count",
    )


def _partition_rules() -> Iterator[Rule]:
    yield Rule(
        at="spec",
        cel=f"!has(self.partition) || (self.partition.type == 'VLAN' "
        f"? {_is_any('self.mode', _carrying(PartitionType.VLAN))} "
        f": {_is_any('self.mode', _carrying(PartitionType.PKEY))})",
        message=f"a VLAN needs mode {_listed(_carrying(PartitionType.VLAN), 'or')}, a PKey needs "
        f"mode {_listed(_carrying(PartitionType.PKEY))}; other modes carry no partition",
        field=".partition.type",
    )
    yield Rule(
        at="spec.partition",
        cel="!has(self.min) || !has(self.max) || self.min <= self.max",
        message="max is smaller than min",
        field=".max",
    )
    for bound in _NUMBERED:
        yield Rule(
            at="spec.partition",
            cel=f"self.type != 'VLAN' || !has(self.{bound}) || self.{bound} <= {MAX_VLAN}",
            message=f"a VLAN is at most {MAX_VLAN}",
            field=f".{bound}",
        )
        yield from _number_rules(f"spec.partition.{bound}")


def _number_rules(at: str) -> Iterator[Rule]:
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


def _rail_rules() -> Iterator[Rule]:
    by_plugin = [mode for mode in Mode if mode not in MULTUS_MODES and mode is not Mode.DRA]
    yield _every_rail(
        by_plugin,
        "has(rail.resourceName)",
        "resourceName, the extended resource of the device plugin",
    )
    yield _every_rail(
        MULTUS_MODES,
        "has(rail.resourceName) || has(rail.networkAttachment)",
        "resourceName, or networkAttachment with a NetworkAttachmentDefinition that names it",
    )
    yield _every_rail([Mode.DRA], "has(rail.deviceClassName)", "deviceClassName")
    yield Rule(
        at="spec",
        cel="self.mode == 'DRA' || self.rails.all(rail, !has(rail.deviceClassName))",
        message="deviceClassName is for mode DRA; other modes name the device plugin's "
        "resourceName",
        field=".rails",
        reason=_FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel=f"!({_is_any('self.mode', by_plugin)}) || "
        "self.rails.all(rail, !has(rail.networkAttachment))",
        message=f"{_listed(by_plugin)} select no NetworkAttachmentDefinition",
        field=".rails",
        reason=_FORBIDDEN,
    )


def _master_rules() -> Iterator[Rule]:
    """Return the rules about the interface on the host, which carries the VLAN where one is."""
    yield _every_rail(
        ONE_PER_RAIL_MODES,
        "has(rail.master) || has(rail.networkAttachment)",
        "master, the interface on the host, or networkAttachment",
    )
    by_master = ONE_PER_RAIL_MODES & set(PARTITION_OF)
    yield Rule(
        at="spec",
        cel=f"!has(self.partition) || !({_is_any('self.mode', by_master)}) || self.rails.all(rail, "
        "!has(rail.master) || rail.master.contains('$(VLAN)'))",
        message=f"{_listed(by_master)} carry a VLAN by the host's sub-interface: write master as "
        "NAME.$(VLAN)",
        field=".rails",
    )
    yield Rule(
        at="spec",
        cel="has(self.partition) || self.rails.all(rail, "
        "!has(rail.master) || !rail.master.contains('$(VLAN)'))",
        message="$(VLAN) in master needs partition",
        field=".partition",
        reason=_REQUIRED,
    )


def _template_rules() -> Iterator[Rule]:
    for key, why in FORBIDDEN_KEYS.items():
        yield Rule(
            at="spec.template",
            cel=f"!has(self.{key})",
            message=f"a template cannot hold {key}: {why}",
            field=f".{key}",
            reason=_FORBIDDEN,
        )


def _pod_defaults_rules() -> Iterator[Rule]:
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


def _every_rail(modes: Iterable[Mode], condition: str, need: str) -> Rule:
    """Return a rule for all rails of some modes.

    Its message cannot name the rail: a name that was looked up has no known length, and a message
    made of such texts is over every budget.
    """
    chosen = list(modes)
    return Rule(
        at="spec",
        cel=f"!({_is_any('self.mode', chosen)}) || self.rails.all(rail, {condition})",
        message=f"every rail of mode {_listed(chosen, 'or')} needs {need}",
        field=".rails",
        reason=_REQUIRED,
    )


def _carrying(kind: PartitionType) -> list[Mode]:
    return [mode for mode, carried in PARTITION_OF.items() if carried is kind]


def _is_any(field: str, modes: Iterable[Mode]) -> str:
    """Return CEL that is true where a field is one of some modes."""
    names = [f"'{mode.value}'" for mode in _ordered(modes)]
    return f"{field} == {names[0]}" if len(names) == 1 else f"{field} in [{', '.join(names)}]"


def _listed(modes: Iterable[Mode], word: str = "and") -> str:
    """Return modes as a sentence lists them."""
    names = [mode.value for mode in _ordered(modes)]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _ordered(modes: Iterable[Mode]) -> list[Mode]:
    wanted = set(modes)
    return [mode for mode in Mode if mode in wanted]


def _digits(number: str, digits: str) -> str:
    """Return CEL for the last four digits of a number, in the base of the digits."""
    base = digits.count("'") // 2
    places = (f"{digits}[{number} / {base**place} % {base}]" for place in (3, 2, 1, 0))
    return " + ".join(places)
