"""CEL rules for the contradictions that one RDMANetwork can hold.

``accept.py`` judges objects that are read from files, by the same tables of which mode carries
what.
"""

from collections.abc import Iterable, Iterator

from policies.accept import MULTUS_MODES, ONE_PER_RAIL_MODES, PARTITION_OF, RENDERED_KEYS
from policies.manifests.validations import (
    FORBIDDEN,
    REQUIRED,
    Rule,
    number_rules,
    pod_defaults_rules,
)
from policies.names import DEFAULT_NETWORK_WORD
from policies.network import Mode
from policies.partition import MAX_VLAN
from policies.shapes import PartitionType

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
    yield from pod_defaults_rules()


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
        reason=FORBIDDEN,
    )
    yield Rule(
        at="spec.mode",
        cel="self == oldSelf",
        message="mode is immutable: make another network, grant it, then delete this one",
        reason=FORBIDDEN,
    )
    yield Rule(
        at="spec.partition.type",
        cel="self == oldSelf",
        message="the type of a partition is immutable",
        reason=FORBIDDEN,
    )


def _count_rules() -> Iterator[Rule]:
    yield Rule(
        at="spec",
        cel="!has(self.count) || !has(self.perAccelerator)",
        message="count and perAccelerator exclude each other: only one can say what a network's "
        "bare name means",
        field=".perAccelerator",
        reason=FORBIDDEN,
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
        yield from number_rules(f"spec.partition.{bound}")


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
        reason=FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel=f"!({_is_any('self.mode', by_plugin)}) || "
        "self.rails.all(rail, !has(rail.networkAttachment))",
        message=f"{_listed(by_plugin)} select no NetworkAttachmentDefinition",
        field=".rails",
        reason=FORBIDDEN,
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
        reason=REQUIRED,
    )


def _template_rules() -> Iterator[Rule]:
    for key, why in RENDERED_KEYS.items():
        yield Rule(
            at="spec.template",
            cel=f"!has(self.{key})",
            message=f"a template cannot hold {key}: {why}",
            field=f".{key}",
            reason=FORBIDDEN,
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
        reason=REQUIRED,
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
