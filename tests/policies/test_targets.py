"""Which containers take part in a network."""

from typing import Any

import pytest

from policies.defaults import NOTHING
from policies.network import RDMANetwork
from policies.offers import Lane, Offer
from policies.parse import parse
from policies.refusal import Reason, Refusal
from policies.shapes import Isolation
from policies.subject import Container
from policies.targets import Targets, choose
from policies.tenancy import Grant
from policies.wish import Wish
from tests.harness.cluster import network, rail
from tests.harness.subjects import container, init, subject

Object = dict[str, Any]

POOL = "rdma/hca"


def offer(mode: str) -> Offer:
    """A network of two rails over one pool."""
    spec = parse(RDMANetwork, network("train", mode, rail("r0", POOL, master="ens1"))).spec
    lanes = (Lane("r0", "", "", POOL), Lane("r1", "", "", POOL))
    grant = Grant("train", None, ())
    return Offer("train", spec, grant, "", None, lanes, Isolation.NONE, NOTHING)


def chosen(
    *containers: Container, named: tuple[str, ...] = (), mode: str = "HostNetwork"
) -> Targets | Refusal:
    """The containers of a pod, those that its annotation names first."""
    wish = Wish((("train", None),), containers=named)
    return choose(subject("train", *containers), wish, offer(mode))


MAIN = container()
GPU = container("gpu", gpus=1)
GPU2 = container("gpu2", gpus=8)
ASKS = container("asks", {POOL: 1})
ASKS2 = container("asks2", {POOL: 2})
ZERO = container("zero", {POOL: 0}, gpus=1)
PROXY = container("istio-proxy", is_proxy=True)
PLAIN_INIT = init("setup", {POOL: 1}, gpus=1)
SIDECAR = init("sidecar", runs_along=True)
GPU_SIDECAR = init("gpu-sidecar", gpus=1, runs_along=True)


@pytest.mark.parametrize(
    ("containers", "named", "equipped", "companions"),
    [
        pytest.param([MAIN], (), ["main"], [], id="the only container"),
        pytest.param([PROXY, MAIN, GPU], (), ["gpu"], [], id="an accelerator's container"),
        pytest.param([GPU, MAIN, GPU2], (), ["gpu", "gpu2"], [], id="all with accelerators"),
        pytest.param([GPU, ASKS], (), ["asks"], ["gpu"], id="one that asks by itself"),
        pytest.param(
            [container("both", {POOL: 1}, gpus=1), GPU], (), ["both"], ["gpu"], id="one with both"
        ),
        pytest.param([PROXY, MAIN], (), ["main"], [], id="the first that is no proxy"),
        pytest.param([PROXY], (), ["istio-proxy"], [], id="a proxy where there is nothing else"),
        pytest.param([MAIN, container("next")], (), ["main"], [], id="the first of two"),
        pytest.param([PLAIN_INIT, MAIN], (), ["main"], [], id="never a plain init container"),
        pytest.param([SIDECAR, MAIN], (), ["main"], [], id="no sidecar by default"),
        pytest.param([GPU_SIDECAR, MAIN], (), ["gpu-sidecar"], [], id="a sidecar with GPU"),
        pytest.param([ZERO, GPU], (), ["gpu"], [], id="not one that asks for zero"),
        pytest.param([ZERO, MAIN], (), ["main"], [], id="not even with an accelerator"),
        pytest.param([GPU, MAIN], ("main",), ["main"], [], id="the annotation goes first"),
        pytest.param([GPU, MAIN], ("main", "gpu"), ["main", "gpu"], [], id="in its own order"),
        pytest.param([SIDECAR, MAIN], ("sidecar",), ["sidecar"], [], id="a sidecar by name"),
        pytest.param([PROXY, MAIN], ("istio-proxy",), ["istio-proxy"], [], id="a proxy by name"),
    ],
)
def test_containers_are_chosen_by_the_rule(
    containers: list[Container], named: tuple[str, ...], equipped: list[str], companions: list[str]
) -> None:
    """The annotation, those that ask, those with an accelerator, the first that is no proxy."""
    found = chosen(*containers, named=named)
    assert isinstance(found, Targets)
    assert [one.name for one in found.equipped] == equipped
    assert [one.name for one in found.companions] == companions


@pytest.mark.parametrize(
    ("containers", "named", "problem"),
    [
        pytest.param(
            [MAIN, GPU], ("worker",), 'no container "worker" (it has: main, gpu)', id="no such one"
        ),
        pytest.param([PLAIN_INIT, MAIN], ("setup",), "plain init container", id="a plain init"),
        pytest.param([ZERO, MAIN], ("zero",), "resource to 0 itself", id="one that says zero"),
        pytest.param([MAIN], ("main", "x"), 'no container "x"', id="the second of two"),
    ],
)
def test_a_container_that_cannot_be_equipped_is_said(
    containers: list[Container], named: tuple[str, ...], problem: str
) -> None:
    """A name in the annotation is never passed over."""
    found = chosen(*containers, named=named)
    assert isinstance(found, Refusal)
    assert found.reason is Reason.CONTAINERS_INVALID
    assert problem in found.message


@pytest.mark.parametrize("mode", ["HostNetwork", "SRIOVEthernet"])
@pytest.mark.parametrize(
    "containers",
    [
        pytest.param([ZERO], id="the only container"),
        pytest.param([SIDECAR, ZERO], id="beside a sidecar that asks for nothing"),
    ],
)
def test_a_pod_that_excludes_every_container_is_refused(
    containers: list[Container], mode: str
) -> None:
    """An annotation and a zero contradict each other."""
    found = chosen(*containers, mode=mode)
    assert isinstance(found, Refusal)
    assert found.reason is Reason.CONTAINERS_EXCLUDED
    assert "zero set a resource of the network (rdma/hca) to 0" in found.message


@pytest.mark.parametrize(
    ("containers", "named", "equipped"),
    [
        pytest.param([MAIN, PROXY], (), "main", id="one by rule"),
        pytest.param([GPU, GPU2], ("gpu2",), "gpu2", id="one of several by name"),
        pytest.param([ASKS, GPU], (), "asks", id="the one that asks by itself"),
        pytest.param([ASKS, GPU], ("asks",), "asks", id="the same by name"),
        pytest.param([PLAIN_INIT, MAIN], (), "main", id="beside an init container that asks"),
    ],
)
def test_whole_devices_go_to_one_container(
    containers: list[Container], named: tuple[str, ...], equipped: str
) -> None:
    """Devices of one attachment are never split over containers."""
    found = chosen(*containers, named=named, mode="SRIOVEthernet")
    assert isinstance(found, Targets)
    assert [one.name for one in found.equipped] == [equipped]


@pytest.mark.parametrize(
    ("containers", "named", "names"),
    [
        pytest.param([GPU, GPU2], (), "gpu, gpu2", id="two with accelerators"),
        pytest.param([ASKS, ASKS2], (), "asks, asks2", id="two that ask"),
        pytest.param([MAIN, GPU], ("main", "gpu"), "main, gpu", id="two by name"),
        pytest.param([ASKS, GPU], ("gpu",), "gpu, asks", id="one by name beside one that asks"),
    ],
)
def test_whole_devices_of_several_containers_are_refused(
    containers: list[Container], named: tuple[str, ...], names: str
) -> None:
    """The containers are named, and the annotation that decides."""
    found = chosen(*containers, named=named, mode="SRIOVEthernet")
    assert isinstance(found, Refusal)
    assert found.reason is Reason.CONTAINERS_AMBIGUOUS
    assert found.message.startswith(f"spec.containers: {names} would share")
    assert "rdma.io/containers" in found.message
