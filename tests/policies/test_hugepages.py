"""Huge pages that Kubernetes would refuse beside what the container asks for."""

import pytest

from policies.hugepages import conflict
from policies.intent import Equipped
from policies.refusal import Reason
from tests.harness.subjects import container, subject

PAGES = (("hugepages-2Mi", "1Gi"),)


def equipped(name: str, index: int, *, has_devices: bool = True) -> Equipped:
    """A container that takes part."""
    return Equipped(("containers", index), name, (), has_devices, env_by_file=False)


BARE = subject("train", container("a"), container("b", asks_memory=False))


@pytest.mark.parametrize(
    ("those", "wanted"),
    [
        pytest.param((equipped("a", 0),), PAGES, id="the one that gets them asks for memory"),
        pytest.param((equipped("b", 1),), (), id="no pages are wanted"),
        pytest.param(
            (equipped("a", 0), equipped("b", 1, has_devices=False)), PAGES, id="a companion"
        ),
    ],
)
def test_pages_that_can_be_had_are_no_conflict(
    those: tuple[Equipped, ...], wanted: tuple[tuple[str, str], ...]
) -> None:
    """Only a container that gets pages has to ask for cpu or memory."""
    assert conflict(BARE, those, wanted) is None


def test_pages_without_memory_are_refused() -> None:
    """The API server would refuse the patched pod; its author learns what to add."""
    found = conflict(BARE, (equipped("a", 0), equipped("b", 1)), PAGES)
    assert found is not None
    assert found.reason is Reason.HUGEPAGES_CONFLICT
    assert found.message == (
        "spec.containers[b].resources: asks for neither cpu nor memory, which hugepages-2Mi of "
        "its networks needs; the pod's author can request memory"
    )
