"""Decisions worked out once for all pods of the same facts."""

import pytest

from policies import memo
from policies.intent import Intent
from policies.memo import decided
from policies.refusal import Pending, Reason, Refusal
from policies.select import Applicable, NotApplicable
from policies.subject import Subject
from tests.harness.cluster import network, policy, rail, snapshot
from tests.harness.subjects import subject

CLUSTER = (network("train", "DeviceOnly", rail("r0", "rdma/ib")), policy("train", "later"))


def test_a_pod_that_can_be_equipped_has_its_intent_and_the_policy_behind_it() -> None:
    """Both are needed: one to write the pod, one to judge it."""
    found = decided(subject("train"), snapshot(*CLUSTER))
    assert isinstance(found, tuple)
    applicable, intent = found
    assert isinstance(applicable, Applicable)
    assert isinstance(intent, Intent)
    assert (applicable.tenancy.namespace, intent.networks) == ("team-a", ("train",))


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        pytest.param(subject(None), NotApplicable, id="nothing asked"),
        pytest.param(subject("later"), Pending, id="something that may come"),
        pytest.param(subject("nope"), Refusal, id="refused by the policy"),
        pytest.param(subject("train", is_windows=True), Refusal, id="refused by the pod's shape"),
    ],
)
def test_every_other_answer_is_a_value(one: Subject, kind: type) -> None:
    """Nothing is raised, whatever the pod asks for."""
    assert isinstance(decided(one, snapshot(*CLUSTER)), kind)


def test_equal_facts_have_one_decision() -> None:
    """The pods of a job differ in name alone, and names are no facts."""
    found = snapshot(*CLUSTER)
    assert decided(subject("train"), found) is decided(subject("train"), found)


def test_what_is_unusually_large_is_not_kept() -> None:
    """A tenant cannot fill our memory with long annotations or lists."""
    cluster = snapshot(*CLUSTER)
    for one in (
        subject("train," * 900),
        subject("train", node_selector=tuple((f"k{n}", "v") for n in range(600))),
    ):
        assert decided(one, cluster) == decided(one, cluster)
    kept = len(cluster.notes.page(memo.__name__))
    decided(subject("train"), cluster)
    assert (kept, len(cluster.notes.page(memo.__name__))) == (0, 1)


def test_a_decision_is_forgotten_with_the_snapshot() -> None:
    """A policy that changes is seen by the next pod."""
    before = snapshot(*CLUSTER)
    assert isinstance(decided(subject("train"), before), tuple)
    after = snapshot(CLUSTER[0], policy("other"))
    found = decided(subject("train"), after)
    assert isinstance(found, Refusal)
    assert found.reason is Reason.NETWORK_NOT_GRANTED


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many different pods under one snapshot never fill it."""
    monkeypatch.setattr(memo, "MOST", 3)
    found = snapshot(*CLUSTER)
    for number in range(1, 9):
        assert isinstance(decided(subject(f"train:{number}"), found), tuple)
        assert len(found.notes.page(memo.__name__)) <= 3
