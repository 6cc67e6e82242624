"""CEL rules for the rails of one RDMANetwork: what a rail names depends on the network's mode.

A rule that needs the mode sees all rails from the spec, and its message cannot name one: a name
that was looked up has no known length, and a message made of such texts is over every budget.
"""

from collections.abc import Iterable, Iterator

from policies.accept import (
    BY_MASTER_MODES,
    INTERFACE_MODES,
    MASTER_PATTERN,
    MULTUS_MODES,
    NAD_FREE_MODES,
    ONE_PER_RAIL_MODES,
)
from policies.manifests.by_mode import is_any, listed
from policies.manifests.validations import FORBIDDEN, REQUIRED, Rule
from policies.network import Mode


def rail_rules() -> Iterator[Rule]:
    """Return the rules of ``spec.rails``."""
    yield from _device_rules()
    yield from _attachment_rules()
    yield from _interface_rules()
    yield from _master_rules()


def _device_rules() -> Iterator[Rule]:
    """Return the rules about what gives a rail's devices."""
    yield _every_rail(
        NAD_FREE_MODES,
        "has(rail.resourceName)",
        "resourceName, the extended resource of the device plugin",
    )
    yield _every_rail(
        MULTUS_MODES,
        "has(rail.resourceName) || has(rail.networkAttachment)",
        "resourceName, or networkAttachment with a NetworkAttachmentDefinition that names it",
    )
    yield _every_rail([Mode.DRA], "has(rail.deviceClassName)", "deviceClassName")
    yield _no_rail(
        set(Mode) - {Mode.DRA},
        "has(rail.deviceClassName)",
        "deviceClassName is for mode DRA; other modes name the device plugin's resourceName",
    )
    yield _no_rail(
        [Mode.DRA],
        "has(rail.resourceName)",
        "mode DRA names its devices by deviceClassName; resourceName is for the other modes",
    )


def _attachment_rules() -> Iterator[Rule]:
    yield _no_rail(
        NAD_FREE_MODES,
        "has(rail.networkAttachment)",
        f"{listed(NAD_FREE_MODES)} select no NetworkAttachmentDefinition",
    )
    yield Rule(
        at="spec",
        cel="self.rails.all(rail, !has(rail.networkAttachment) || self.rails.exists_one(other, "
        "has(other.networkAttachment) && other.networkAttachment == rail.networkAttachment))",
        message="two rails have one networkAttachment: a rail has its own, and count says how "
        "often a pod joins it",
        field=".rails",
    )


def _interface_rules() -> Iterator[Rule]:
    """Return the rules about where a rail has an interface on the host."""
    others = set(Mode) - INTERFACE_MODES
    yield _every_rail(
        ONE_PER_RAIL_MODES,
        "has(rail.master) || has(rail.networkAttachment)",
        "master, the interface on the host, or networkAttachment",
    )
    yield _no_rail(
        others,
        "has(rail.master) || has(rail.altNames)",
        f"a rail of mode {listed(others, 'or')} is no interface: it has neither master nor "
        "altNames",
    )
    yield Rule(
        at="spec.rails.[]",
        cel="!has(self.altNames) || has(self.master) || has(self.networkAttachment)",
        message="altNames are other names of master, which is absent",
        field=".altNames",
    )
    yield Rule(
        at="spec",
        cel=f"!({is_any(ONE_PER_RAIL_MODES)}) || self.rails.all(rail, !has(rail.master) || "
        "self.rails.exists_one(other, has(other.master) && other.master == rail.master))",
        message="two rails have one master: a rail is one interface",
        field=".rails",
    )


def _master_rules() -> Iterator[Rule]:
    """Return the rules about the interface that carries the tenant's VLAN."""
    carries = "has(rail.master) && rail.master.contains('$(VLAN)')"
    yield Rule(
        at="spec.rails.[].master",
        cel=f"self.matches('{MASTER_PATTERN}')",
        message="only .$(VLAN) at the end is replaced: write NAME or NAME.$(VLAN)",
    )
    yield _no_rail(
        set(Mode) - BY_MASTER_MODES,
        carries,
        f"$(VLAN) in master is for {listed(BY_MASTER_MODES)}, which carry a VLAN by the host's "
        "sub-interface",
    )
    yield Rule(
        at="spec",
        cel=f"!has(self.partition) || !({is_any(BY_MASTER_MODES)}) || self.rails.all(rail, "
        "!has(rail.master) || rail.master.contains('$(VLAN)'))",
        message=f"{listed(BY_MASTER_MODES)} carry a VLAN by the host's sub-interface: write master "
        "as NAME.$(VLAN)",
        field=".rails",
    )
    yield Rule(
        at="spec",
        cel=f"has(self.partition) || !({is_any(BY_MASTER_MODES)}) || "
        f"!self.rails.exists(rail, {carries})",
        message="$(VLAN) in master needs partition",
        field=".partition",
        reason=REQUIRED,
    )


def _every_rail(modes: Iterable[Mode], condition: str, need: str) -> Rule:
    """Return a rule for what all rails of some modes have."""
    chosen = list(modes)
    return Rule(
        at="spec",
        cel=f"!({is_any(chosen)}) || self.rails.all(rail, {condition})",
        message=f"every rail of mode {listed(chosen, 'or')} needs {need}",
        field=".rails",
        reason=REQUIRED,
    )


def _no_rail(modes: Iterable[Mode], condition: str, message: str) -> Rule:
    """Return a rule for what no rail of some modes has."""
    return Rule(
        at="spec",
        cel=f"!({is_any(modes)}) || !self.rails.exists(rail, {condition})",
        message=message,
        field=".rails",
        reason=FORBIDDEN,
    )
