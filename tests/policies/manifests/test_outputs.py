"""Status is output: the policy names all our kinds and one account."""

from policies.manifests.crd import KINDS
from policies.manifests.outputs import outputs


def test_the_status_of_every_kind_is_guarded() -> None:
    """Each kind of ours has a status, and this policy is about nothing else."""
    assert set(outputs().resources) == {f"{kind.plural}/status" for kind in KINDS}


def test_one_account_may_write_it() -> None:
    """The ServiceAccount that the manifests make, as the API server calls it; no condition."""
    policy = outputs()
    (check,) = policy.checks
    account = "system:serviceaccount:rdma-system:rdma-webhook"
    assert check.cel == f"request.userInfo.username == '{account}'"
    assert account in check.says
    assert policy.conditions == {}
