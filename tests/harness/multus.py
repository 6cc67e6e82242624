"""Calls the real Multus as a container runtime does, and reads what stand-in plugins were given."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.controlplane import ControlPlane
from tests.harness.running import SandboxFailed
from tests.harness.sandbox import Sandbox

DEFAULT_INTERFACE = "eth0"


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """What Multus gave to a plugin whose stand-in is our recorder.

    Attributes:
        type: The plugin's type, as ``sriov``.
        command: ``ADD`` or ``DEL``.
        interface: ``CNI_IFNAME``.
        args: ``CNI_ARGS``, parsed.
        config: The configuration on its standard input, parsed.
    """

    type: str
    command: str
    interface: str
    args: Mapping[str, str]
    config: Mapping[str, Any]


class Multus:
    """Multus and its plugins on one node; no process of its own, it runs for each call alone."""

    def __init__(
        self, sandbox: Sandbox, controlplane: ControlPlane, further: Mapping[str, Any]
    ) -> None:
        """Describe it; it can be called after :meth:`install`.

        Args:
            sandbox: Where it is called.
            controlplane: The cluster whose API server it asks.
            further: Further keys of its configuration.
        """
        self._sandbox = sandbox
        self._controlplane = controlplane
        self._further = dict(further)
        self._binaries = Path()

    def install(self, binaries: Path) -> None:
        """Take the folder with it and the plugins, in a sandbox that has just started."""
        self._binaries = binaries
        self._records.mkdir()

    def call(self, command: str, meta: Mapping[str, Any], netns: str) -> dict[str, Any]:
        """Return the CNI result of one call as the container runtime makes it."""
        arguments = {
            "IgnoreUnknown": "1",
            "K8S_POD_NAMESPACE": meta["namespace"],
            "K8S_POD_NAME": meta["name"],
            "K8S_POD_INFRA_CONTAINER_ID": meta["uid"],
            "K8S_POD_UID": meta["uid"],
        }
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "CNI_COMMAND": command,
            "CNI_CONTAINERID": meta["uid"],
            "CNI_NETNS": f"/run/netns/{netns}",
            "CNI_IFNAME": DEFAULT_INTERFACE,
            "CNI_PATH": str(self._binaries),
            "CNI_ARGS": ";".join(f"{key}={value}" for key, value in arguments.items()),
            "RDMA_CNI_RECORD_DIR": str(self._records),
        }
        multus = str(self._binaries / "multus")
        config = json.dumps(self._config())
        done = self._sandbox.run(multus, stdin=config, env=environment, check=False)
        if done.returncode != 0:
            said = _cni_error(done.stdout) or done.stderr.strip() or done.stdout.strip()
            raise SandboxFailed(f"pod {meta['namespace']}/{meta['name']}: CNI {command}: {said}")
        result: dict[str, Any] = json.loads(done.stdout or "{}")
        return result

    def recorded(self, namespace: str, name: str, command: str = "ADD") -> list[RecordedCall]:
        """Return the calls to stand-in plugins for a pod, failed ones too, in their order."""
        calls = [_read_record(path) for path in sorted(self._records.glob("*.json"))]
        return [
            call
            for call in calls
            if call.command == command
            and call.args.get("K8S_POD_NAMESPACE") == namespace
            and call.args.get("K8S_POD_NAME") == name
        ]

    @property
    def _records(self) -> Path:
        return self._sandbox.folder / "records"

    def _config(self) -> dict[str, Any]:
        default_network = {
            "cniVersion": "1.0.0",
            "name": "default",
            "type": "bridge",
            "bridge": "cni0",
            "isDefaultGateway": True,
            "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.0.0/16"}]]},
        }
        return {
            "cniVersion": "1.0.0",
            "name": "multus",
            "type": "multus",
            "kubeconfig": str(self._controlplane.kubeconfig()),
            "cniDir": "/var/lib/cni/multus",
            "binDir": str(self._binaries),
            "logLevel": "error",
            "delegates": [default_network],
            **self._further,
        }


def _read_record(path: Path) -> RecordedCall:
    call = json.loads(path.read_text())
    pairs = [pair.partition("=") for pair in call["args"].split(";") if pair]
    args = {key: value for key, _, value in pairs}
    return RecordedCall(call["type"], call["command"], call["ifName"], args, call["config"])


def _cni_error(text: str) -> str | None:
    """Return the message of a CNI error document, details included."""
    try:
        document = json.loads(text)
    except ValueError:
        return None
    parts = [str(document[key]) for key in ("msg", "details") if document.get(key)]
    return ": ".join(parts) or None
