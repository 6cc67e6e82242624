"""The flags of the control plane's programs, and the files they read. Starts nothing."""

import base64
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one control plane keeps its files, and the ports it has on 127.0.0.1."""

    folder: Path
    api_port: int
    etcd_port: int
    etcd_peer_port: int

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self.api_port}"

    @property
    def ca_file(self) -> Path:
        """The certificates that clients trust; the API server writes it when it starts."""
        return self.folder / "certificates" / "apiserver.crt"

    @property
    def tokens_file(self) -> Path:
        """The users and their bearer tokens."""
        return self.folder / "tokens.csv"

    @property
    def account_key_file(self) -> Path:
        """The key that signs ServiceAccount tokens."""
        return self.folder / "service-accounts.key"


def new_layout(folder: Path) -> Layout:
    """Return a layout in the folder, on ports that are free now."""
    sockets = [socket.socket() for _ in range(3)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return Layout(folder, *(each.getsockname()[1] for each in sockets))
    finally:
        for each in sockets:
            each.close()


def etcd_flags(layout: Layout) -> list[str]:
    """Return the flags of etcd: one member, nothing forced to the disk."""
    client = f"http://127.0.0.1:{layout.etcd_port}"
    peer = f"http://127.0.0.1:{layout.etcd_peer_port}"
    return [
        "--name=test",
        f"--data-dir={layout.folder / 'etcd'}",
        "--unsafe-no-fsync",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=test={peer}",
        "--log-level=warn",
    ]


def apiserver_flags(layout: Layout, *, has_controllers: bool) -> list[str]:
    """Return the flags of kube-apiserver.

    Args:
        layout: Files and ports.
        has_controllers: A controller manager makes the default ServiceAccounts; where none does,
            pods are admitted without one.
    """
    flags = [
        "--allow-privileged=true",
        f"--etcd-servers=http://127.0.0.1:{layout.etcd_port}",
        f"--secure-port={layout.api_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--cert-dir={layout.ca_file.parent}",
        f"--token-auth-file={layout.tokens_file}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.account_key_file}",
        f"--service-account-signing-key-file={layout.account_key_file}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC,Node",
        "--endpoint-reconciler-type=none",
    ]
    return flags if has_controllers else [*flags, "--disable-admission-plugins=ServiceAccount"]


def controller_manager_flags(layout: Layout, kubeconfig: Path) -> list[str]:
    """Return the flags of kube-controller-manager.

    The node lifecycle controller is off: no kubelet sends heartbeats here, so it would mark every
    node NotReady after 40 s. The request limits are high because the default 20 a second makes
    the first ServiceAccount wait for 5 s.
    """
    return [
        f"--kubeconfig={kubeconfig}",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.account_key_file}",
        "--controllers=*,-node-lifecycle-controller",
        "--kube-api-qps=500",
        "--kube-api-burst=500",
        "--leader-elect=false",
        "--secure-port=0",
    ]


def scheduler_flags(kubeconfig: Path) -> list[str]:
    """Return the flags of kube-scheduler."""
    return [f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"]


def token_lines(tokens: Mapping[str, str], groups: Mapping[str, Sequence[str]]) -> str:
    """Return the API server's token file: token, user, uid and groups of each user."""
    lines = [
        f'{token},{user},{user},"{",".join(groups.get(user, ()))}"\n'
        for user, token in tokens.items()
    ]
    return "".join(lines)


def kubeconfig_text(layout: Layout, user: str, token: str) -> str:
    """Return a kubeconfig with one cluster, one user and one context."""
    cluster = {"server": layout.url, "certificate-authority": str(layout.ca_file)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        "current-context": "test",
    }
    return yaml.safe_dump(document)


def new_private_key() -> str:
    """Return a new P-256 key, PEM, as the API server signs ServiceAccount tokens with.

    The public half is left out, as RFC 5915 allows: its readers compute it.
    """
    scalar = b"\0" + secrets.token_bytes(31)  # a leading zero keeps it below the curve's order
    version, octets = b"\x02\x01\x01", b"\x04\x20" + scalar
    curve = b"\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
    content = version + octets + curve
    text = base64.encodebytes(bytes([0x30, len(content)]) + content).decode()
    label = "EC PRIVATE KEY"
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"
