"""Objects of ours held against the others: what holds for all of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.crosschecks import CHECKS, Write, judge
from policies.refusal import Reason, Refusal
from tests.harness import writes
from tests.harness.cluster import Object
from tests.harness.pod_strategies import BUDGET

SNAPSHOT = writes.cluster("tenants")
TENANTS = ("acme", "bolt", "bee")
NAMESPACES = ("team-a", "team-b", "team-c", "fresh")
NETWORKS = ("roce", "shared", "train-ib", "slot", "host", "ib0", "alien", "future", "later")

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def _holed(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Return objects in which any field may be absent or anything."""
    return (
        st.fixed_dictionaries({}, optional={key: one | _json for key, one in fields.items()})
        | _json
    )


_number = st.sampled_from((1, 17, 199, 200, 210, 220, 230, 310, 4095, 0x8011, 70000))
_partitions = st.lists(
    _holed({"name": st.sampled_from(("main", "more")), "number": _number}), max_size=2
)
_grants = st.lists(
    _holed({"name": st.sampled_from(NETWORKS), "partitions": _partitions}), max_size=3
)
_spec = _holed(
    {
        "tenant": st.sampled_from(TENANTS),
        "networks": _grants,
        "minimumIsolation": st.sampled_from(("None", "Soft", "Hard")),
        "mode": st.sampled_from(("Macvlan", "SRIOVEthernet", "HostNetwork", "Teleport")),
        "fabric": st.sampled_from(("leaf", "moon")),
        "partition": _holed({"type": st.just("VLAN"), "min": _number, "max": _number}),
        "rails": st.just([{"name": "r0", "resourceName": "rdma/hca", "master": "e.$(VLAN)"}]),
        "type": st.sampled_from(("VLAN", "PKey")),
        "number": _number,
    }
)
_object = st.none() | st.fixed_dictionaries(
    {}, optional={"metadata": _json, "spec": _spec, "kind": _json}
)


@given(
    check=st.sampled_from(sorted(CHECKS)),
    name=st.sampled_from(("default", *NETWORKS)),
    namespace=st.sampled_from(NAMESPACES),
    new=_object,
    old=_object,
)
@BUDGET
def test_any_object_is_answered(
    check: tuple[str, str], name: str, namespace: str, new: Object | None, old: Object | None
) -> None:
    """Whatever is written, there is a verdict, and a refusal says where and names no stranger."""
    kind, operation = check
    write = Write(
        kind=kind, operation=operation, name=name, namespace=namespace, object=new, old=old
    )
    found = judge(write, SNAPSHOT)
    if isinstance(found, Refusal):
        assert found.message.startswith(f"{write.title}: ")
        if found.reason is not Reason.NETWORK_IN_USE:
            assert not any(team in found.message for team in {*NAMESPACES, *TENANTS} - {namespace})


_good_number = st.sampled_from((17, 199, 210, 220, 230, 310))
_good = st.lists(
    st.tuples(st.sampled_from(NETWORKS), st.lists(_good_number, max_size=3, unique=True)),
    max_size=4,
    unique_by=lambda one: one[0],
)


def _policy(grants: list[tuple[str, list[int]]], **spec: object) -> Object:
    networks = [
        {"name": name, "partitions": [{"name": f"p{n}", "number": n} for n in numbers]}
        for name, numbers in grants
    ]
    return {"metadata": {"name": "default"}, "spec": {"networks": networks, **spec}}


@given(
    grants=_good,
    namespace=st.sampled_from(NAMESPACES),
    tenant=st.sampled_from(TENANTS),
    cut=st.integers(0, 4),
)
@BUDGET
def test_numbers_that_stay_are_never_refused(
    grants: list[tuple[str, list[int]]], namespace: str, tenant: str, cut: int
) -> None:
    """An update that brings no number to its tenant passes, whatever was wrong before."""
    before, after = _policy(grants, tenant=tenant), _policy(grants[:cut], tenant=tenant)
    after["spec"]["enforcement"] = "Enforce"
    write = Write(
        kind="RDMAPolicy",
        operation="UPDATE",
        name="default",
        namespace=namespace,
        object=after,
        old=before,
    )
    assert isinstance(judge(write, SNAPSHOT), tuple)


@given(grants=_good, namespace=st.sampled_from(NAMESPACES), tenant=st.sampled_from(TENANTS))
@BUDGET
def test_an_old_policy_of_another_tenant_excuses_nothing(
    grants: list[tuple[str, list[int]]], namespace: str, tenant: str
) -> None:
    """Given to another tenant, a policy is judged as a new one is."""
    new, old = _policy(grants, tenant=tenant), _policy(grants, tenant="before")
    place: dict[str, Any] = {"kind": "RDMAPolicy", "name": "default", "namespace": namespace}
    moved = judge(Write(**place, operation="UPDATE", object=new, old=old), SNAPSHOT)
    assert moved == judge(Write(**place, operation="CREATE", object=new), SNAPSHOT)


@pytest.mark.parametrize("kind", ["RDMANetwork", "RDMAPartition", "RDMAPolicy"])
def test_an_object_without_end_is_not_read(kind: str) -> None:
    """What is nested too deeply for a message is told so."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    spec = {"mode": deep, "fabric": deep, "tenant": deep}
    write = Write(kind=kind, operation="CREATE", name="default", object={"spec": spec})
    found = judge(write, SNAPSHOT)
    assert not isinstance(found, Refusal)
    (notice,) = found
    assert notice.text.endswith("it is nested too deeply")


def test_what_is_not_registered_is_not_judged() -> None:
    """An immutable claim is never updated, and a policy can always go."""
    for kind, operation in (("RDMAPartition", "UPDATE"), ("RDMAPolicy", "DELETE")):
        assert judge(Write(kind=kind, operation=operation, name="default"), SNAPSHOT) == ()
