"""Which objects have to be looked at after a change: those that depend on it, and few others."""

from typing import Any

import pytest

from policies.changes import Change, Everything, Gone, Put
from policies.snapshot import Snapshot
from tests.harness.cluster import claim, granted, labelled, nad, network, policy, rail, snapshot
from webhook.control.keys import Key, Steps, affected, every

VF = rail("r0", "nvidia.com/vf")
FIXED = {"name": "r0", "networkAttachment": {"namespace": "fabric", "name": "theirs"}}


def vlan(name: str, fabric: str, *rails: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a network with VLANs."""
    partition = {"type": "VLAN"}
    return network(name, "SRIOVEthernet", *(rails or (VF,)), partition=partition, fabric=fabric)


BEFORE = snapshot(
    vlan("a", "leaf"),
    vlan("b", "leaf"),
    vlan("c", "spine", FIXED),
    network("broken", "Carrier", VF),
    policy(granted("a", 210), namespace="one", tenant="acme"),
    policy(granted("b", 210), namespace="two"),
    policy(granted("c", 210), namespace="three", tenant="acme"),
    policy(granted("a", 211), namespace="four"),
    {**policy(namespace="five"), "spec": 7},
    claim("p", "acme"),
    {**claim("q", "acme"), "spec": 7},
)


def policies(*namespaces: str) -> set[Key]:
    """Return the policies of some namespaces."""
    return {Key("RDMAPolicy", namespace, "default") for namespace in namespaces}


def one(kind: str, name: str) -> Key:
    """Return a cluster-scoped object."""
    return Key(kind, "", name)


def found(steps: Steps) -> set[Key]:
    """Return the keys among some steps."""
    return {step for step in steps if step is not None}


def applied(*changes: Change) -> Snapshot:
    """Return the snapshot after some changes; those that the core cannot take change nothing."""
    try:
        return BEFORE.apply(changes)
    except (AttributeError, TypeError):
        return BEFORE


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            Put("RDMAPolicy", policy(granted("a", 210), namespace="one")),
            policies("one", "two"),
            id="a policy: those of the same number on its fabric",
        ),
        pytest.param(
            Put("RDMAPolicy", policy(granted("a", 211), namespace="one", tenant="acme")),
            policies("one", "two", "four"),
            id="a policy that takes another number: rivals of both",
        ),
        pytest.param(
            Gone("RDMAPolicy", "two", "default"),
            policies("two", "one"),
            id="a policy that goes: its former rivals",
        ),
        pytest.param(
            Put("RDMAPolicy", policy("nowhere", granted("a"), namespace="six")),
            policies("six"),
            id="a policy without number",
        ),
        pytest.param(
            Gone("RDMANetwork", "", "a"),
            {one("RDMANetwork", "a"), *policies("one", "two", "four")},
            id="a network: who grants it, and its fabric",
        ),
        pytest.param(
            Put("RDMANetwork", vlan("d", "own", rail("r0", "nvidia.com/other"))),
            {one("RDMANetwork", "d"), *policies("one", "two", "four")},
            id="a network that takes another resource: who grants one whose NADs are open",
        ),
        pytest.param(
            Put("RDMANetwork", vlan("c", "leaf", FIXED)),
            {one("RDMANetwork", "c"), *policies("one", "two", "three", "four")},
            id="a network that changes its fabric: both fabrics",
        ),
        pytest.param(
            Put("RDMAPartition", claim("p", "other")),
            {one("RDMAPartition", "p"), *policies("one", "two", "three")},
            id="a partition: who names its number, and its tenants",
        ),
        pytest.param(
            Put("NetworkAttachmentDefinition", nad("x", namespace="two", type="sriov")),
            policies("two"),
            id="a NAD: its namespace's policy",
        ),
        pytest.param(
            Put("NetworkAttachmentDefinition", nad("theirs", namespace="fabric", type="sriov")),
            {one("RDMANetwork", "c"), *policies("three")},
            id="a NAD that a rail names: the network and who grants it",
        ),
        pytest.param(
            Put("NetworkAttachmentDefinition", nad("x", namespace="none", type="sriov")),
            set(),
            id="a NAD elsewhere",
        ),
        pytest.param(
            Put("NetworkAttachmentDefinition", nad("x", namespace="five", type="sriov")),
            policies("five"),
            id="a NAD beside a policy that never parsed",
        ),
        pytest.param(
            Put("Namespace", labelled("five")), set(), id="a namespace: labels say nothing"
        ),
        pytest.param(Put("Pod", {"metadata": None}), set(), id="another kind"),
        pytest.param(
            Put("RDMAPolicy", {"metadata": 7}), {Key("RDMAPolicy", "", "")}, id="an odd object"
        ),
    ],
)
def test_a_change_concerns_what_depends_on_it(change: Change, expected: set[Key]) -> None:
    """Each kind of change, with what it leads to."""
    assert found(affected([change], BEFORE, applied(change))) == expected


def test_a_batch_walks_the_policies_once() -> None:
    """However many changes it holds; each policy is named by the walk once at most."""
    several = [Gone("RDMANetwork", "", name) for name in "abc"]
    steps = list(affected(several, BEFORE, applied(*several)))
    assert len(steps) == len(several) + len(BEFORE.shards)
    assert len(found(iter(steps))) == len([one for one in steps if one])


def test_a_whole_list_concerns_everything() -> None:
    """What was there, and what is there now."""
    change = Everything("RDMANetwork", [vlan("new", "leaf")])
    after = BEFORE.apply([change])
    concerned = found(affected([change], BEFORE, after))
    assert concerned == found(every(BEFORE)) | found(every(after))
    assert one("RDMANetwork", "new") in concerned


def test_every_object_is_looked_at_readable_or_not() -> None:
    """One that never parsed has a status too."""
    assert found(every(BEFORE)) == {
        *(one("RDMANetwork", name) for name in ("a", "b", "c", "broken")),
        one("RDMAPartition", "p"),
        one("RDMAPartition", "q"),
        *policies("one", "two", "three", "four", "five"),
    }
