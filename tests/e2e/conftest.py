"""The real parts, as fixtures: one control plane and one set of readers for the whole run."""

import os
import secrets
from collections.abc import Callable, Iterator

import pytest

from tests.harness.controlplane import ControlPlane
from tests.harness.dataplane import KubeletDouble
from tests.harness.readers import Readers


@pytest.fixture(scope="session")
def controlplane() -> Iterator[ControlPlane]:
    """Give a running cluster that all tests share; keep objects in namespaces of your own."""
    with ControlPlane() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def readers() -> Iterator[Readers]:
    """Give Multus's own parsers."""
    with Readers() as program:
        yield program


@pytest.fixture
def namespace(controlplane: ControlPlane) -> Iterator[str]:
    """Give a fresh namespace in which nothing but admin may write; it is deleted afterwards."""
    name = f"test-{secrets.token_hex(4)}"
    controlplane.add_namespace(name)
    yield name
    controlplane.api("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def kubelet_double(controlplane: ControlPlane) -> Iterator[Callable[..., KubeletDouble]]:
    """Give a maker of nodes: ``kubelet_double(node, devices, …)``; they end with the test."""
    if os.geteuid() != 0:
        pytest.skip("the data plane needs root, for network namespaces")
    started: list[KubeletDouble] = []

    def make(*arguments: object, **keywords: object) -> KubeletDouble:
        double = KubeletDouble(controlplane, *arguments, **keywords)  # type: ignore[arg-type]
        double.start()
        started.append(double)
        return double

    yield make
    for double in started:
        double.delete_all()
        double.stop()
