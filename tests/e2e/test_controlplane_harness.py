"""The control plane that the other tests stand on is a real one."""

import json
from pathlib import Path

import pytest

from tests.harness import build, parts
from tests.harness.clients import ApiRefused, KubectlFailed
from tests.harness.controlplane import ControlPlane
from tests.harness.processes import ProcessFailed
from tests.harness.waiting import TimedOut


def pod(name: str, limits: dict[str, str], selector: dict[str, str] | None = None) -> str:
    """Return a pod with one container that asks for the limits, as JSON."""
    container = {"name": "main", "image": "example", "resources": {"limits": limits}}
    spec = {"containers": [container], "nodeSelector": selector or {}}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


def test_kubectl_and_server_are_of_the_version_that_was_built(controlplane: ControlPlane) -> None:
    """Version-gated behaviour is on: both say the version in go.mod, not v0.0.0."""
    versions = json.loads(controlplane.kubectl("version", "-o", "json").stdout)
    said = {versions[side]["gitVersion"] for side in ("clientVersion", "serverVersion")}
    assert len(said) == 1
    assert said.pop().startswith("v1.")


def test_a_tenant_edits_in_one_namespace_alone(controlplane: ControlPlane) -> None:
    """RBAC lets alice write in team-a, and neither in team-b nor cluster-wide."""
    controlplane.kubectl(
        "create", "configmap", "notes", "-n", "team-a", "--dry-run=server", user="alice"
    )
    with pytest.raises(KubectlFailed, match="cannot create resource"):
        controlplane.kubectl("create", "configmap", "notes", "-n", "team-b", user="alice")
    with pytest.raises(KubectlFailed, match="cannot list resource"):
        controlplane.kubectl("get", "nodes", user="alice")


def test_the_json_client_is_held_to_the_same_rights(controlplane: ControlPlane) -> None:
    """A request refused by RBAC is status 403 as a value, and an exception where asked for."""
    status, answer = controlplane.api("GET", "/api/v1/nodes", user="bob")
    assert (status, answer["reason"]) == (403, "Forbidden")
    with pytest.raises(ApiRefused, match="nodes is forbidden"):
        controlplane.request("GET", "/api/v1/nodes", user="bob")


def test_a_service_account_is_itself(controlplane: ControlPlane, namespace: str) -> None:
    """A kubeconfig with a ServiceAccount's token is that account to the API server."""
    controlplane.kubectl("create", "serviceaccount", "robot", "-n", namespace)
    kubeconfig = controlplane.service_account_kubeconfig(namespace, "robot")
    said = controlplane.kubectl("auth", "whoami", "--kubeconfig", str(kubeconfig)).stdout
    assert f"system:serviceaccount:{namespace}:robot" in said
    account = f"system:serviceaccount:{namespace}:robot"
    status, _ = controlplane.api("GET", "/api/v1/nodes", user=account)
    assert status == 403


def test_the_scheduler_binds_a_pod_to_the_node_that_advertises(
    controlplane: ControlPlane, namespace: str
) -> None:
    """A pod that asks for rdma/hca goes to the one node that has it."""
    controlplane.add_node("plain", {})
    controlplane.add_node("with-hca", {"rdma/hca": "1000"})
    controlplane.kubectl("apply", "-n", namespace, "-f", "-", stdin=pod("a", {"rdma/hca": "1"}))
    assert controlplane.wait_until_bound(namespace, "a") == "with-hca"


def test_a_pod_waits_where_no_node_advertises(controlplane: ControlPlane, namespace: str) -> None:
    """A pod that asks for what no node has stays Pending, and the scheduler says of what."""
    controlplane.add_node("plain", {})
    text = pod("b", {"example.com/nowhere": "1"})
    controlplane.kubectl("apply", "-n", namespace, "-f", "-", stdin=text)
    reason = controlplane.wait_until_unschedulable(namespace, "b")
    assert "Insufficient example.com/nowhere" in reason
    assert controlplane.pod(namespace, "b")["status"]["phase"] == "Pending"


def test_apply_takes_text_and_files(
    controlplane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    """Manifests are applied from text and from a file, and read back as JSON."""
    text = (
        "apiVersion: v1\nkind: ConfigMap\n"
        f"metadata: {{name: from-text, namespace: {namespace}}}\ndata: {{key: value}}\n"
    )
    file = tmp_path / "map.yaml"
    file.write_text(text.replace("from-text", "from-file"))
    controlplane.apply(text)
    controlplane.apply(file)
    for name in ("from-text", "from-file"):
        found = controlplane.get_json("configmap", name, "-n", namespace)
        assert found["data"] == {"key": "value"}


def test_waiting_says_what_did_not_happen(controlplane: ControlPlane) -> None:
    """A wait that is over names what was waited for."""
    with pytest.raises(TimedOut, match="pigs that fly: not within"):
        controlplane.wait_for("pigs that fly", lambda: None, timeout=0.05)


def test_the_data_outlives_a_restart_of_the_api_server() -> None:
    """After an outage the API server is at the same address with the same objects."""
    with ControlPlane(controllers=False, scheduler=False) as own:
        own.add_namespace("kept")
        own.stop_apiserver()
        with pytest.raises(OSError, match="refused"):
            own.api("GET", "/readyz")
        own.start_apiserver()
        assert own.find("/api/v1/namespaces/kept") is not None


def test_a_failed_start_shows_the_log_and_leaves_nothing() -> None:
    """A flag that the API server does not know is in the error, and nothing stays running."""
    own = ControlPlane(apiserver_flags=["--no-such-flag"])
    with pytest.raises(ProcessFailed, match="unknown flag: --no-such-flag"):
        own.start()
    with pytest.raises(RuntimeError, match="not started"):
        own.api("GET", "/readyz")


def test_binaries_that_are_given_are_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Binaries in the folder that KUBEBUILDER_ASSETS names take precedence."""
    for name in parts.CONTROLPLANE.packages:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("RDMA_WEBHOOK_CACHE", str(tmp_path / "cache"))
    found = build.binaries(parts.CONTROLPLANE)
    assert found == {name: tmp_path / name for name in parts.CONTROLPLANE.packages}
    assert not (tmp_path / "cache").exists()
