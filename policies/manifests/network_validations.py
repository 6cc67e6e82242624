"""CEL rules for the contradictions that one RDMANetwork can hold.

``accept.py`` judges objects that are read from files, by the same tables of which mode carries
what.
"""

from collections.abc import Iterator

from policies.accept import BY_MASTER_MODES, ONE_PER_RAIL_MODES, PARTITION_OF
from policies.accept_template import RENDERED_KEYS
from policies.manifests.by_mode import is_any, listed
from policies.manifests.pod_defaults_validations import pod_defaults_rules
from policies.manifests.rail_validations import rail_rules
from policies.manifests.validations import FORBIDDEN, NAME, Rule, typed_number_rules
from policies.names import DEFAULT_NETWORK_WORD
from policies.network import Mode
from policies.shapes import PartitionType


def network_rules() -> Iterator[Rule]:
    """Return the rules of an RDMANetwork."""
    yield from _name_rules()
    yield from _fixed_rules()
    yield from _count_rules()
    yield from _partition_rules()
    yield from rail_rules()
    yield from _template_rules()
    yield from pod_defaults_rules()


def _name_rules() -> Iterator[Rule]:
    yield Rule(
        at="",
        cel="self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",
        message="a network's name is a DNS label: at most 63 characters and no dot, since it is "
        "written in annotations, labels and names",
        field=NAME,
    )
    yield Rule(
        at="",
        cel=f"self.metadata.name != '{DEFAULT_NETWORK_WORD}'",
        message=f"in rdma.io/network the word {DEFAULT_NETWORK_WORD} means the policy's default "
        "network; choose another name",
        field=NAME,
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
        message="the type of a partition is immutable: numbers are claimed by type",
        reason=FORBIDDEN,
    )
    yield Rule(
        at="spec",
        cel="has(self.partition) == has(oldSelf.partition)",
        message="partition can be neither added nor removed, since running pods would stay on the "
        "other side: make another network",
        field=".partition",
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
        cel=f"!({is_any(ONE_PER_RAIL_MODES)}) || !has(self.count) || "
        "type(self.count) != int || int(self.count) <= self.rails.size()",
        message=f"{listed(ONE_PER_RAIL_MODES)} attach a pod once to a rail: count is at most the "
        "number of rails",
        field=".count",
    )


def _partition_rules() -> Iterator[Rule]:
    yield Rule(
        at="spec",
        cel=f"!has(self.partition) || (self.partition.type == 'VLAN' "
        f"? {is_any(_carrying(PartitionType.VLAN))} "
        f": {is_any(_carrying(PartitionType.PKEY))})",
        message=f"a VLAN needs mode {listed(_carrying(PartitionType.VLAN), 'or')}, a PKey needs "
        f"mode {listed(_carrying(PartitionType.PKEY))}; other modes carry no partition",
        field=".partition.type",
    )
    yield Rule(
        at="spec.partition",
        cel="!has(self.min) || !has(self.max) || self.min <= self.max",
        message="max is smaller than min",
        field=".max",
    )
    for bound in ("min", "max"):
        yield from typed_number_rules("spec.partition", bound)
    yield Rule(
        at="spec",
        cel=f"!has(self.hostInterfaces) || (has(self.partition) && {is_any(BY_MASTER_MODES)})",
        message=f"hostInterfaces is for {listed(BY_MASTER_MODES)} with a partition: it says that "
        "nodes have the sub-interfaces of its VLANs",
        field=".hostInterfaces",
        reason=FORBIDDEN,
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


def _carrying(kind: PartitionType) -> list[Mode]:
    return [mode for mode, carried in PARTITION_OF.items() if carried is kind]
