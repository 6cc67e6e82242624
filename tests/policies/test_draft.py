"""How events change the index: whatever comes, in any order, nothing is lost and nothing stays."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from policies.changes import Change, Everything, Gone, Put
from policies.rules import Rules
from policies.shapes import PartitionType
from policies.snapshot import Snapshot
from tests.harness.budgets import small
from tests.harness.cluster import claim, granted, labelled, nad, network, policy, rail, snapshot

Object = dict[str, Any]
Place = tuple[str, str, str]

RULES = Rules()
VLAN = PartitionType.VLAN
VF = rail("r0", "nvidia.com/vf")
BY_VLAN = {"type": "VLAN"}


def roce(name: str, **spec: Any) -> Object:  # noqa: ANN401
    """A network with VLANs."""
    return network(name, "SRIOVEthernet", VF, partition=BY_VLAN, **spec)


def broken(raw: Object) -> Object:
    """The object with a spec that no version reads."""
    return {**raw, "spec": 7}


def attached(name: str, *places: Object) -> Object:
    """A network whose rails leave everything to NADs that others wrote."""
    rails = ({"name": f"r{n}", "networkAttachment": place} for n, place in enumerate(places))
    return network(name, "Macvlan", *rails)


def node(name: str, allocatable: Object) -> Object:
    """A node that advertises resources."""
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


MISSING = {
    "metadata": {"name": "a", "generation": 7},
    "status": {
        "conditions": [{"type": "ResourcesAdvertised", "status": "False", "observedGeneration": 7}]
    },
}


def place_of(raw: Object) -> Place:
    """Kind, namespace and name."""
    return raw["kind"], raw["metadata"].get("namespace", ""), raw["metadata"]["name"]


def facts(found: Snapshot) -> dict[str, Any]:
    """All that decisions can see, in a form whose order says nothing."""
    return {
        "networks": dict(found.networks),
        "shards": dict(found.shards),
        "partitions": dict(found.partitions),
        "governance": found.governance,
        "claims": dict(found.claims),
        "holders": dict(found.holders),
        "nodes": dict(found.nodes),
        "problems": sorted(found.problems),
    }


READABLE: dict[str, list[Object]] = {
    "RDMANetwork": [
        roce("a", fabric="leaf"),
        roce("a"),
        network("a", "Macvlan", rail("r0", "rdma/hca", master="ens1")),
        network("a", "Macvlan", rail("r0", "rdma/hca")),
        roce("b", fabric="leaf"),
        attached("b", {"name": "x"}),
        attached("c", {"name": "x"}, {"name": "y", "namespace": "team-a"}),
        attached("c", {"name": "y"}, {"name": "x", "namespace": "team-b"}),
        {**roce("a"), "status": {"conditions": [{"type": "Accepted", "status": "True"}]}},
        {**roce("a"), **MISSING},
    ],
    "RDMAPolicy": [
        policy(granted("a", 210)),
        policy(granted("a", 210), granted("b", 210), tenant="acme"),
        policy(granted("a", 211), podLimits={"privileged": True}),
        policy(
            {"name": "a", "partitions": [{"name": "x", "number": 7}, {"name": "y", "number": 7}]}
        ),
        policy("a"),
        policy(granted("a", 210), namespace="team-b"),
        policy(granted("a", 210), namespace="team-b", tenant="acme"),
    ],
    "RDMAPartition": [claim("p", "acme"), claim("p", "other"), claim("q", "acme", 211)],
    "NetworkAttachmentDefinition": [
        nad("x", "nvidia.com/vf", type="sriov", vlan=210),
        nad("x"),
        nad("y", type="macvlan"),
        nad("x", namespace="team-b", type="bridge"),
        nad("x", "nvidia.com/ours", type="macvlan", master="ens1.210"),
        nad("x", "nvidia.com/ours", "team-b", type="macvlan", master="ens1"),
        nad("y", "nvidia.com/ours", "team-b", type="sriov"),
    ],
    "Namespace": [
        labelled("team-a", enforce="baseline"),
        labelled("team-a"),
        labelled("team-c", warn="restricted"),
    ],
    "Node": [
        node("n1", {"rdma/hca": "8"}),
        node("n1", {}),
        node("n2", {"rdma/hca": 8, "cpu": "4"}),
    ],
}
UNREADABLE: dict[str, list[Object]] = {
    "RDMANetwork": [broken(roce("a")), network("b", "Carrier", VF)],
    "RDMAPolicy": [
        broken(policy()),
        policy("a", "a"),
        {**policy("a", namespace="team-b"), "metadata": {"namespace": "team-b", "name": "extra"}},
    ],
    "RDMAPartition": [broken(claim("p", "acme")), broken(claim("r", "acme"))],
    "NetworkAttachmentDefinition": [],
    "Namespace": [],
    "Node": [],
}
OBJECTS = {kind: [*READABLE[kind], *UNREADABLE[kind]] for kind in READABLE}
PLACES = sorted({place_of(raw) for objects in OBJECTS.values() for raw in objects})
KINDS = st.sampled_from(sorted(OBJECTS))


def _lists(kind: str) -> st.SearchStrategy[Change]:
    objects = st.lists(st.sampled_from(OBJECTS[kind]), max_size=4, unique_by=place_of)
    return objects.map(lambda found: Everything(kind, found))


PUTS = KINDS.flatmap(lambda kind: st.sampled_from(OBJECTS[kind])).map(
    lambda raw: Put(raw["kind"], raw)
)
GONE = st.sampled_from(PLACES).map(lambda place: Gone(*place))
CHANGES = st.lists(PUTS | PUTS | GONE | KINDS.flatmap(_lists), max_size=16)


def replayed(changes: Iterable[Change]) -> Snapshot:
    """The snapshot that somebody builds who only knows each object's last and last good version."""
    good: dict[Place, Object] = {}
    last: dict[Place, Object] = {}

    def put(raw: Object) -> None:
        last[place_of(raw)] = raw
        if raw in READABLE[raw["kind"]]:
            good[place_of(raw)] = raw

    def drop(place: Place) -> None:
        good.pop(place, None)
        last.pop(place, None)

    for change in changes:
        match change:
            case Put():
                put(dict(change.object))
            case Gone():
                drop((change.kind, change.namespace, change.name))
            case Everything():
                listed = [dict(raw) for raw in change.objects]
                kept = {place_of(raw) for raw in listed}
                for place in [one for one in last if one[0] == change.kind and one not in kept]:
                    drop(place)
                for raw in listed:
                    put(raw)
    return snapshot(*good.values(), *last.values(), rules=RULES)


@small
@given(changes=CHANGES)
def test_any_order_of_events_equals_building_from_scratch(changes: list[Change]) -> None:
    """Nothing is left of what is gone, and nothing that is there depends on how it came."""
    at_once = Snapshot.empty(RULES).apply(changes)
    one_by_one = Snapshot.empty(RULES)
    for change in changes:
        one_by_one = one_by_one.apply([change])
    assert facts(at_once) == facts(replayed(changes))
    assert facts(one_by_one) == facts(at_once)


@small
@given(before=CHANGES, after=CHANGES)
def test_a_snapshot_never_changes(before: list[Change], after: list[Change]) -> None:
    """A reader of the old snapshot sees the old world, whatever comes."""
    old = Snapshot.empty(RULES).apply(before)
    seen = repr(facts(old))
    new = old.apply(after)
    assert repr(facts(old)) == seen
    assert (new is old) == (facts(new) == facts(old))
    assert (new.notes is old.notes) == (new is old)


@small
@given(changes=CHANGES)
def test_what_changes_nothing_is_no_change(changes: list[Change]) -> None:
    """What was worked out stays with the snapshot: all that was heard again is no news."""
    found = Snapshot.empty(RULES).apply(changes)
    assert found.apply(changes) is found
    assert found.apply([]) is found


@small
@given(changes=CHANGES)
def test_what_shared_nads_use_equals_a_recount(changes: list[Change]) -> None:
    """Counted event by event it is what a look at every namespace gives."""
    found = Snapshot.empty(RULES)
    for change in changes:
        found = found.apply([change])
    counted: dict[str, dict[str, int]] = {}
    for shard in found.shards.values():
        for name in found.governance.sharers:
            one = shard.nads.get(name)
            if one is not None and one.resource_name and not one.problem:
                uses = counted.setdefault(one.resource_name, {})
                uses[name] = uses.get(name, 0) + 1
    assert {key: dict(uses) for key, uses in found.governance.uses.resources.items()} == counted


@small
@given(changes=CHANGES)
def test_the_index_of_claims_equals_a_recount(changes: list[Change]) -> None:
    """Every explicit number of every policy, counted once for its tenant."""
    found = Snapshot.empty(RULES).apply(changes)
    counted: dict[tuple[str, int], dict[str, int]] = {}
    for tenancy in [shard.tenancy for shard in found.shards.values() if shard.tenancy]:
        named = {
            (grant.name, number)
            for grant in tenancy.grants
            for _, number in grant.partitions
            if number is not None
        }
        for place in named:
            claims = counted.setdefault(place, {})
            claims[tenancy.tenant] = claims.get(tenancy.tenant, 0) + 1
    assert {key: dict(value) for key, value in found.claims.items()} == counted


@small
@given(changes=CHANGES)
def test_a_full_list_of_nothing_leaves_nothing(changes: list[Change]) -> None:
    """No trace of any object, nor of its problem, nor of an empty namespace."""
    lists = [Everything(kind, []) for kind in OBJECTS]
    found = Snapshot.empty(RULES).apply(changes).apply(lists)
    assert facts(found) == facts(Snapshot.empty(RULES))


def test_an_object_of_another_kind_is_passed_over() -> None:
    """A folder holds more than our kinds."""
    found = Snapshot.empty(RULES).apply(
        [Put("Pod", {"metadata": {"name": "x"}}), Gone("Pod", "a", "x"), Everything("Pod", [])]
    )
    assert facts(found) == facts(Snapshot.empty(RULES))


def test_a_policy_that_stops_parsing_keeps_its_last_good_version() -> None:
    """Tenants keep what they had, and the problem is said until it is mended."""
    first = snapshot(policy(granted("a", 210)))
    second = first.apply([Put("RDMAPolicy", broken(policy()))])
    shard = second.shard("team-a")
    assert shard.tenancy == first.shard("team-a").tenancy
    assert second.claims == first.claims
    assert shard.policy_problem.startswith("RDMAPolicy team-a/default: spec: ")
    assert second.problems == (shard.policy_problem,)
    third = second.apply([Put("RDMAPolicy", policy("a"))])
    assert (third.shard("team-a").policy_problem, third.problems) == ("", ())


def test_a_network_that_stops_parsing_keeps_its_last_good_version() -> None:
    """Its pods still start, and the problem is said."""
    first = snapshot(roce("a", fabric="leaf"))
    second = first.apply([Put("RDMANetwork", broken(roce("a")))])
    assert second.networks["a"] == first.networks["a"]
    assert second.networks["a"].fabric == "leaf"
    assert second.governance == first.governance
    assert [text.split(":")[0] for text in second.problems] == ["RDMANetwork a"]
    assert second.apply([Put("RDMANetwork", roce("a"))]).problems == ()


def test_a_network_that_never_parsed_is_known_by_its_latest_problem() -> None:
    """It has no version, and its fabric is its name."""
    first = snapshot(network("a", "Carrier", VF))
    assert (first.networks["a"].model, first.networks["a"].fabric) == (None, "a")
    assert "Carrier" in first.networks["a"].problem
    second = first.apply([Put("RDMANetwork", broken(roce("a")))])
    assert second.networks["a"].problem.startswith("RDMANetwork a: spec: ")
    assert second.problems == (second.networks["a"].problem,)


def test_a_network_that_is_not_accepted_is_known_with_its_problem() -> None:
    """What parses is the truth, although nobody can use it."""
    found = snapshot(network("a", "Macvlan", rail("r0", "rdma/hca"))).networks["a"]
    assert found.model is not None
    assert found.problem.startswith("RDMANetwork a: spec.rails[r0]: mode Macvlan needs master")


def test_a_partition_that_stops_parsing_keeps_its_holder() -> None:
    """A number is never free because of a broken object."""
    found = snapshot(claim("p", "acme"), broken(claim("p", "acme")))
    assert found.holder("leaf", VLAN, 210) == "acme"
    assert len(found.problems) == 1


def test_a_policy_of_another_name_counts_for_nothing() -> None:
    """There is exactly one a namespace; the other is said, and its going is noted."""
    extra = policy("a")
    extra["metadata"] = {"namespace": "team-a", "name": "extra"}
    found = snapshot(policy("b"), extra)
    assert [grant.name for grant in found.shards["team-a"].tenancy.grants] == ["b"]  # type: ignore[union-attr]
    assert found.problems == ("RDMAPolicy team-a/extra: metadata.name: want default",)
    after = found.apply([Gone("RDMAPolicy", "team-a", "extra")])
    assert after.problems == ()
    assert after.shards == found.shards


def test_a_tenant_that_changes_its_name_takes_its_claims_along() -> None:
    """The same numbers of the same namespace are another tenant's from then on."""
    first = snapshot(roce("a"), policy(granted("a", 210)))
    second = first.apply([Put("RDMAPolicy", policy(granted("a", 210), tenant="acme"))])
    assert dict(first.claims["a", 210]) == {"namespace/team-a": 1}
    assert dict(second.claims["a", 210]) == {"acme": 1}
    assert second.claimants("a", VLAN, 210) == {"acme"}


@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        ("RDMANetwork", {"name": "a", "labels": ["x"]}),
        ("RDMAPolicy", {"name": "default", "namespace": 7}),
        ("RDMAPartition", {"name": ["a"]}),
        ("NetworkAttachmentDefinition", {"name": "x", "namespace": "a", "annotations": 7}),
        ("Namespace", {"name": "a", "labels": {"x": 1, "y": "z"}}),
        ("Namespace", {"name": "a", "labels": "x"}),
        ("Namespace", None),
    ],
)
def test_an_odd_object_never_stops_the_stream(kind: str, metadata: object) -> None:
    """A file may hold anything; the event behind it is still taken."""
    found = Snapshot.empty(RULES).apply(
        [Put(kind, {"kind": kind, "metadata": metadata}), Put("RDMANetwork", roce("next"))]
    )
    assert found.networks["next"].model is not None


BARE = network("bare", "SRIOVEthernet", {"name": "r0", "networkAttachment": {"name": "ours"}})
FIXED = network(
    "fixed",
    "SRIOVEthernet",
    {"name": "r0", "networkAttachment": {"namespace": "fabric", "name": "theirs"}},
)
OURS = nad("ours", "nvidia.com/ours", type="sriov")
THEIRS = nad("theirs", "nvidia.com/theirs", "fabric", type="sriov")
NEIGHBOUR = nad("rival", "nvidia.com/ours", "team-b", type="sriov")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([BARE, FIXED, OURS, THEIRS, NEIGHBOUR], id="networks first"),
        pytest.param([NEIGHBOUR, THEIRS, OURS, FIXED, BARE], id="networks last"),
    ],
)
def test_what_a_rail_leaves_open_is_governed_as_its_nad_says(changes: list[Any]) -> None:
    """In whatever order they come; a NAD that a tenant may write gives nobody's pool away."""
    found = Snapshot.empty(RULES)
    for one in changes:
        found = found.apply([Put(one["kind"], one)])
    rival = found.nad("team-b", "rival")
    assert rival is not None
    assert found.governance.governs(rival)
    assert found.governance.resources == {"nvidia.com/theirs": ("fixed",)}
    assert found.governance.owners_of("nvidia.com/ours") == ("bare",)
    gone = found.apply([Gone("NetworkAttachmentDefinition", "team-a", "ours")])
    assert not gone.governance.governs(rival)


def test_an_event_shares_what_it_does_not_touch() -> None:
    """One shard is another, and what follows from the others' NADs is not worked out again."""
    others = [nad("ours", "nvidia.com/ours", f"team-{number}", type="sriov") for number in range(9)]
    before = snapshot(BARE, *others)
    after = before.apply([Put("NetworkAttachmentDefinition", nad("x", "", "team-1", type="vlan"))])
    changed = [name for name in before.shards if after.shards[name] is not before.shards[name]]
    assert changed == ["team-1"]
    assert after.governance is before.governance
    assert after.networks is before.networks
    more = after.apply([Put("NetworkAttachmentDefinition", nad("ours", "a/b", type="sriov"))])
    assert dict(more.governance.uses.resources) == {
        "nvidia.com/ours": Map(ours=9),
        "a/b": Map(ours=1),
    }
    assert more.governance.sharers is before.governance.sharers
