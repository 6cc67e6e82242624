"""The facts about a pod that a policy may look at."""

from tests.harness.subjects import container, subject

POOLS = frozenset({"rdma/hca", "rdma/ib"})


def test_a_container_asks_by_a_number_above_zero() -> None:
    """An explicit zero is a no."""
    assert container(resources={"cpu": 1, "rdma/ib": 1}).asks(POOLS)
    assert not container(resources={"cpu": 1, "rdma/ib": 0}).asks(POOLS)
    assert not container(resources={"nvidia.com/gpu": 1}).asks(POOLS)


def test_a_container_excludes_itself_by_an_explicit_zero() -> None:
    """Saying nothing is not a no."""
    assert container(resources={"rdma/hca": 0}).excludes(POOLS)
    assert not container(resources={"rdma/hca": 1}).excludes(POOLS)
    assert not container(resources={"cpu": 0}).excludes(POOLS)
    assert not container().excludes(POOLS)


def test_pods_of_one_job_have_the_same_facts() -> None:
    """Subjects can be compared and hashed, so that a decision is worked out once."""
    assert hash(subject("a", container())) == hash(subject("a", container()))
    assert subject("a") != subject("b")
