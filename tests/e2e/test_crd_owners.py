"""Two field managers own different entries of one list: the real kubectl, server-side."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.harness.controlplane import ControlPlane
from tests.harness.crd_cases import Object, collection

NETWORK = {
    "apiVersion": "rdma.io/v1alpha1",
    "kind": "RDMANetwork",
    "metadata": {"name": "owners"},
    "spec": {"mode": "DeviceOnly"},
}
POLICY = {
    "apiVersion": "rdma.io/v1alpha1",
    "kind": "RDMAPolicy",
    "metadata": {"name": "default", "namespace": "team-b"},
    "spec": {},
}


@dataclass(frozen=True, slots=True)
class Shared:
    """A list that two people write.

    Attributes:
        base: What both write.
        path: Where the list is below ``spec``; a dict is the entry of a list that both own.
        field: A field of an entry.
        values: Two values of it.
        entry: The other fields of an entry.
    """

    base: Object
    path: tuple[str | Object, ...]
    field: str
    values: tuple[Any, Any]
    entry: Object

    def written(self, entries: list[Object]) -> str:
        """Return the object with these entries, as JSON."""
        value: Any = entries
        for step in reversed(self.path):
            value = {step: value} if isinstance(step, str) else [{**step, **value}]
        base: Object = json.loads(json.dumps(self.base))
        base["spec"] |= value
        if self.base is NETWORK and self.path[0] != "rails":
            base["spec"]["rails"] = [{"name": "r0", "resourceName": "rdma/x"}]
        return json.dumps(base)

    def made(self, name: str, value: Any = None) -> Object:  # noqa: ANN401 any JSON
        """Return an entry."""
        return {"name": name, **self.entry, self.field: self.values[0] if value is None else value}

    def read(self, stored: Object) -> dict[str, Any]:
        """Return the field of each entry by the entry's name."""
        node = stored["spec"]
        for step in self.path:
            node = node.get(step, {}) if isinstance(step, str) else node[0]
        return {one["name"]: one.get(self.field) for one in node or []}


LISTS = {
    "spec.networks": Shared(POLICY, ("networks",), "quota", (1, 2), {}),
    "spec.networks.partitions": Shared(
        POLICY, ("networks", {"name": "a"}, "partitions"), "number", (210, 211), {}
    ),
    "spec.podDefaults.env of a policy": Shared(
        POLICY, ("podDefaults", "env"), "value", ("x", "y"), {}
    ),
    "spec.podLimits.env": Shared(POLICY, ("podLimits", "env"), "value", ("x", "y"), {}),
    "spec.rails": Shared(NETWORK, ("rails",), "resourceName", ("rdma/x", "rdma/y"), {}),
    "spec.podDefaults.env": Shared(NETWORK, ("podDefaults", "env"), "value", ("x", "y"), {}),
}


@pytest.fixture(params=LISTS.values(), ids=list(LISTS))
def shared(kinds: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Shared]:
    """Give a list of an object that is not there, and is not there afterwards."""
    found: Shared = request.param
    yield found
    kinds.api("DELETE", _path(found))


def _path(shared: Shared) -> str:
    return f"{collection(shared.base)}/{shared.base['metadata']['name']}"


def _apply(
    cluster: ControlPlane, shared: Shared, manager: str, entries: list[Object]
) -> tuple[int, str]:
    """Return exit code and complaint of a server-side apply."""
    flags = ("--server-side", f"--field-manager={manager}", "-f", "-")
    done = cluster.kubectl("apply", *flags, stdin=shared.written(entries), check=False)
    return done.returncode, done.stderr


def test_two_managers_own_different_entries(kinds: ControlPlane, shared: Shared) -> None:
    """Both keep theirs; the same entry is a conflict; what one takes back the other still has."""
    first, second = shared.values
    number = 212 if shared.field == "number" else first
    ours, theirs = shared.made("anet"), shared.made("bnet", number)
    assert _apply(kinds, shared, "alice", [ours]) == (0, "")
    assert _apply(kinds, shared, "bob", [theirs]) == (0, "")
    assert shared.read(kinds.request("GET", _path(shared))) == {"anet": first, "bnet": number}

    code, said = _apply(kinds, shared, "bob", [theirs, shared.made("anet", second)])
    assert code == 1
    assert 'conflict with "alice"' in said
    assert f'[name="anet"].{shared.field}' in said
    assert shared.read(kinds.request("GET", _path(shared))) == {"anet": first, "bnet": number}

    assert _apply(kinds, shared, "bob", []) == (0, "")
    assert shared.read(kinds.request("GET", _path(shared))) == {"anet": first}
    assert _apply(kinds, shared, "alice", [shared.made("anet", second)]) == (0, "")
    assert shared.read(kinds.request("GET", _path(shared))) == {"anet": second}
