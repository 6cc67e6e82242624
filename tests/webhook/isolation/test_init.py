"""All checks together."""

import pkgutil

import pytest

from policies.refusal import Notice, Pending, Reason, Refusal
from tests.harness.cluster import cluster
from tests.harness.pods import Object, asking, case, pod
from webhook import isolation
from webhook.isolation import CHECKS, judge

KEY = "k8s.v1.cni.cncf.io/networks"
OVERSTEPS = pod("tokens", asking(rdma__hca="1"), hostPID=True, hostIPC=True)


def test_every_check_of_the_room_is_made() -> None:
    """A check that is written is also made."""
    files = {one.name for one in pkgutil.iter_modules(isolation.__path__)} - {"case"}
    assert {one.__module__.rpartition(".")[2] for one in CHECKS} == files


def test_a_plain_pod_passes_without_a_word() -> None:
    """Nobody is warned of nothing."""
    assert judge(case(pod("tokens"), cluster())) == ()


def test_the_first_refusal_is_the_answer() -> None:
    """A pod is refused with one sentence, that of the first check."""
    found = judge(case(OVERSTEPS, cluster()))
    assert isinstance(found, Refusal)
    assert found.reason is Reason.PRIVILEGE_DENIED
    assert found.message.startswith("spec.hostPID: ")


def test_warnings_are_gathered() -> None:
    """Where nothing is refused, every check may warn."""
    found = judge(case(OVERSTEPS, cluster(enforcement="Warn")))
    assert isinstance(found, tuple)
    assert [type(one) for one in found] == [Notice] * 3


@pytest.mark.parametrize("spec", [{}, {"hostPID": True}])
def test_a_missing_fact_is_waited_for_first(spec: Object) -> None:
    """What a NAD holds is known before rights are judged."""
    given = pod("tokens", annotations={KEY: "absent"}, **spec)
    assert isinstance(judge(case(given, cluster())), Pending)
