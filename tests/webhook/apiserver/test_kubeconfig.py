"""Kubeconfig files, plain and otherwise."""

import base64
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from certs.authority import make_authority, sign_leaf
from tests.fakes.apiserver import FakeAPI
from tests.fakes.pace import FakePace
from webhook.apiserver.connection import connect
from webhook.apiserver.errors import NoCluster
from webhook.apiserver.kubeconfig import kubeconfig_access, plain_login

CLOCK = FakePace().pace.clock


def write(
    path: Path,
    user: Mapping[str, object] | None = None,
    cluster: Mapping[str, object] | None = None,
) -> Path:
    """Write a kubeconfig with one context, and another that is not the current one."""
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [
            {"name": "other", "cluster": {"server": "https://other"}},
            {"name": "c", "cluster": {"server": "https://here:6443/", **(cluster or {})}},
        ],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [
            {"name": "there", "context": {"cluster": "other", "user": "u"}},
            {"name": "here", "context": {"cluster": "c", "user": "u"}},
        ],
    }
    path.write_text(yaml.safe_dump(found))
    return path


async def test_a_token_leads_to_the_server_of_the_current_context(
    api: FakeAPI, tmp_path: Path
) -> None:
    """Server and token are used as they are."""
    path = write(tmp_path / "config", {"token": "secret"}, {"server": api.base})
    connection = await connect(path, CLOCK)
    try:
        async with await connection.get("/api/v1/namespaces", {"limit": "1"}, "a/b", 5.0) as found:
            assert found.status == 200
    finally:
        await connection.close()
    assert api.seen[0].headers["Authorization"] == "Bearer secret"


def test_files_are_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    """Relative paths begin at the file's own folder, as kubectl reads them."""
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "ca").write_text("authority")
    user = {"tokenFile": "token", "client-certificate": "crt"}
    path = write(tmp_path / "config", user, {"certificate-authority": "ca"})
    login = plain_login(path)
    assert (login.base, login.token, login.authority) == (
        "https://here:6443",
        "secret",
        "authority",
    )
    assert login.certificate == str(tmp_path / "crt")


def test_what_the_cluster_says_about_tls_is_used(tmp_path: Path) -> None:
    """Inline CA, server name, proxy, and whether to look at all."""
    data = base64.b64encode(b"authority").decode()
    login = plain_login(
        write(
            tmp_path / "config",
            cluster={
                "certificate-authority-data": data,
                "tls-server-name": "inside",
                "proxy-url": "http://proxy",
                "insecure-skip-tls-verify": True,
            },
        )
    )
    assert login.authority == "authority"
    assert (login.server_name, login.proxy, login.is_insecure) == ("inside", "http://proxy", True)


async def test_a_client_certificate_in_files_is_loaded(tmp_path: Path) -> None:
    """A pair beside the kubeconfig is the client's."""
    authority = make_authority("test", datetime.now(UTC))
    pair = sign_leaf(authority, ["client"], datetime.now(UTC))
    (tmp_path / "crt").write_bytes(pair.chain)
    (tmp_path / "key").write_bytes(pair.key)
    user = {"client-certificate": "crt", "client-key": "key"}
    access = await kubeconfig_access(write(tmp_path / "config", user), CLOCK)
    assert (await access.arguments())["headers"] == {}


async def test_a_changed_token_is_read_again_when_refused(tmp_path: Path) -> None:
    """Whoever replaces the file need not restart us."""
    path = write(tmp_path / "config", {"token": "first"})
    access = await kubeconfig_access(path, CLOCK)
    write(path, {"token": "second"})
    await access.reload()
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer second"


async def test_passwords_and_plugins_are_left_to_the_library(tmp_path: Path) -> None:
    """A login plugin is run; a password is sent as basic authentication."""
    path = write(tmp_path / "config", {"username": "u", "password": "p"})
    access = await kubeconfig_access(path, CLOCK)
    assert access.base == "https://here:6443"
    said = (
        '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",'
        ' "status": {"token": "from-plugin"}}'
    )
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", f"print({said!r})"],
        "interactiveMode": "Never",
    }
    access = await kubeconfig_access(write(path, {"exec": plugin}), CLOCK)
    assert (await access.arguments())["headers"] == {"Authorization": "Bearer from-plugin"}


def test_a_plain_file_does_not_load_the_library(tmp_path: Path) -> None:
    """40 MB and half a second are for those who need them."""
    path = write(tmp_path / "config", {"token": "secret"})
    code = (
        "import asyncio, sys; from pathlib import Path;"
        "from webhook.apiserver.kubeconfig import kubeconfig_access;"
        "asyncio.run(kubeconfig_access(Path(sys.argv[1]), lambda: 0.0));"
        "print('kubernetes_asyncio' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no such file"),
        ("", "cannot be used: it is no kubeconfig, which has clusters, contexts and users"),
        ("[]", "cannot be used: it is no kubeconfig"),
        ("a-host", "cannot be used: it is no kubeconfig"),
        ("contexts: [a]\ncurrent-context: x", "cannot be used: it is no kubeconfig"),
        ("a: [", "cannot be used"),
        ("clusters: 7", "cannot be used: 'contexts' is missing"),
        ("contexts: []\ncurrent-context: x", "nothing is called x"),
    ],
)
async def test_an_unusable_file_is_one_sentence(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    """The flag, the path and the reason."""
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    with pytest.raises(NoCluster) as found:
        await connect(path, CLOCK)
    assert f"--kubeconfig: {path}: " in str(found.value)
    assert reason in str(found.value)
    assert "\n" not in str(found.value)


async def test_a_token_file_that_is_absent_is_one_sentence(tmp_path: Path) -> None:
    """A kubeconfig that points to nothing is said with what it points to."""
    path = write(tmp_path / "config", {"tokenFile": "absent"})
    with pytest.raises(NoCluster, match="absent"):
        await kubeconfig_access(path, CLOCK)
