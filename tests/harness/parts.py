"""What the tests run against: Go modules under ``tests/``, and the binaries that come out of them.

Versions are said in ``tests/controlplane/go.mod`` and ``tests/dataplane/go.mod``; how a part is
built, in :mod:`tests.harness.build`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent

STAND_IN_TYPES = (
    "accelerated-bridge",
    "host-device",
    "ib-sriov",
    "ipoib",
    "ipvlan",
    "nv-ipam",
    "ovs",
    "rdma",
    "sriov",
    "tuning",
    "vlan",
    "whereabouts",
)
"""CNI types that need hardware, a kernel module or a daemon that is not here: our recorder."""


class BuildError(Exception):
    """A real part could not be built; the message is one sentence for the person running it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Go module and the binaries that come out of it.

    Attributes:
        name: Folder under ``tests/`` and first word of the cache folder's name.
        title: What is built, for people.
        estimate: How long the first build takes on two cores, for people.
        packages: Binary name to Go package.
        links: Further names for a binary: name to binary.
        version_module: The module whose version is stamped into Kubernetes binaries, if any.
    """

    name: str
    title: str
    estimate: str
    packages: Mapping[str, str]
    links: Mapping[str, str]
    version_module: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of the Go module."""
        return TESTS / self.name

    def version(self, module: str) -> str:
        """Return the version, as ``v1.2.3``, at which the module is required."""
        text = (self.folder / "go.mod").read_text()
        found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", text, re.MULTILINE)
        if found is None:
            raise BuildError(f"{self.folder / 'go.mod'}: does not require {module}")
        return found[1]


CONTROLPLANE = Part(
    name="controlplane",
    title="Kubernetes {k8s.io/kubernetes} and etcd {go.etcd.io/etcd/server/v3} control plane",
    estimate="about 12 minutes",
    packages={
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    },
    links={},
    version_module="k8s.io/kubernetes",
)

DATAPLANE = Part(
    name="dataplane",
    title="Multus {gopkg.in/k8snetworkplumbingwg/multus-cni.v4} and CNI plugins "
    "{github.com/containernetworking/plugins} data plane",
    estimate="about 2 minutes",
    packages={
        "multus": "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus",
        "bridge": "github.com/containernetworking/plugins/plugins/main/bridge",
        "macvlan": "github.com/containernetworking/plugins/plugins/main/macvlan",
        "host-local": "github.com/containernetworking/plugins/plugins/ipam/host-local",
        "static": "github.com/containernetworking/plugins/plugins/ipam/static",
        "readers": "./readers",
        "recorder": "./recorder",
    },
    links=dict.fromkeys(STAND_IN_TYPES, "recorder"),
)

PARTS = {part.name: part for part in (CONTROLPLANE, DATAPLANE)}
