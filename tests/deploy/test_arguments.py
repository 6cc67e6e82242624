"""What the manifests tell the program: read by the program's own parser, so that neither drifts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from webhook.cli import serve
from webhook.cli.main import main
from webhook.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
BASE = DEPLOY / "base"
OVERLAYS = sorted(path.parent for path in DEPLOY.glob("overlays/*/kustomization.yaml"))

Document = dict[str, Any]


def _documents(path: Path) -> Iterator[Document]:
    for document in yaml.safe_load_all(path.read_text()):
        if isinstance(document, dict):
            yield document


def _deployments(folder: Path) -> list[Document]:
    """Return the Deployments that a kustomization yields.

    A patch may only delete one: whoever changes one by a patch has to teach this function how.
    """
    (kustomization,) = _documents(folder / "kustomization.yaml")
    found: list[Document] = []
    for resource in kustomization["resources"]:
        path = (folder / resource).resolve()
        if path.is_dir():
            found += _deployments(path)
        else:
            found += [one for one in _documents(path) if one["kind"] == "Deployment"]
    for patch in kustomization.get("patches", ()):
        change = yaml.safe_load(patch["patch"])
        kind = patch.get("target", {}).get("kind") or change["kind"]
        if kind == "Deployment":
            assert change["$patch"] == "delete"
            found = [one for one in found if one["metadata"]["name"] != change["metadata"]["name"]]
    return found


def _containers() -> Iterator[Any]:
    for folder in (BASE, *OVERLAYS):
        for deployment in _deployments(folder):
            for container in deployment["spec"]["template"]["spec"]["containers"]:
                yield pytest.param(container, id=f"{folder.name}/{container['name']}")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Return what ``serve`` is told from now on, in place of serving."""
    found: list[Settings] = []

    def take(settings: Settings) -> int:
        found.append(settings)
        return 0

    monkeypatch.setattr(serve, "_serve", take)
    return found


@pytest.mark.parametrize("container", list(_containers()))
def test_the_program_takes_the_containers_arguments(
    container: Document, told: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments and variables of every shipped container are settings that can be used."""
    for variable in container.get("env", ()):
        monkeypatch.setenv(variable["name"], variable.get("value", ""))
    assert main(container["args"]) == 0
    (settings,) = told
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"webhook": settings.listen.port, "probes": settings.probe_listen.port}
    assert {settings.listen.host, settings.probe_listen.host} == {"0.0.0.0"}  # noqa: S104 - parsed
    mounts = [Path(mount["mountPath"]) for mount in container["volumeMounts"]]
    for path in (settings.tls_cert_file, settings.tls_private_key_file):
        assert path is not None
        assert path.parent in mounts


def test_every_overlay_is_looked_at() -> None:
    """The base and each overlay that runs the webhook in the cluster."""
    assert [len(_deployments(folder)) for folder in (BASE, *OVERLAYS)] == [1, 1, 0]
