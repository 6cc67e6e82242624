"""Credentials, and what statuses mean."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.authority import make_authority
from tests.fakes.apiserver import FakeAPI
from tests.fakes.pace import FakePace
from webhook.watch.connection import PodAccess, connect, refusal
from webhook.watch.errors import (
    Busy,
    Expired,
    Forbidden,
    KindAbsent,
    NoCluster,
    StreamError,
    Unauthorized,
)

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """Return the folder of a pod's service account."""
    (tmp_path / "token").write_text("first\n")
    authority = make_authority("cluster", datetime.now(UTC))
    (tmp_path / "ca.crt").write_bytes(authority.chain)
    return tmp_path


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        (401, "", Unauthorized),
        (403, "", Forbidden),
        (404, "", KindAbsent),
        (410, "", Expired),
        (504, "Too large resource version: 9", Expired),
        (504, "timeout", Busy),
        (429, "", Busy),
        (500, "", Busy),
        (302, "", Busy),
    ],
)
def test_each_status_is_the_error_that_says_what_to_do(
    status: int, text: str, error: type[StreamError]
) -> None:
    """A 504 is Expired only where it says that the version is ahead of this API server."""
    assert type(refusal(status, text)) is error


def test_a_retry_after_that_is_no_number_counts_as_none() -> None:
    """A date or garbage in Retry-After is no reason to fail."""
    found = refusal(429, "", "Wed, 21 Oct 2026 07:28:00 GMT")
    assert isinstance(found, Busy)
    assert found.retry_after == 0.0


async def test_a_pod_uses_its_service_account(account: Path) -> None:
    """Host and port come from the environment, token and CA from the folder."""
    access = PodAccess(POD, FakePace().pace.clock, account)
    assert access.base == "https://10.0.0.1:443"
    assert (await access.arguments())["headers"] == {"Authorization": "Bearer first"}


async def test_a_renewed_token_is_seen_within_a_minute(account: Path) -> None:
    """The kubelet replaces the file; nobody tells us."""
    fake = FakePace()
    access = PodAccess(POD, fake.pace.clock, account)
    (account / "token").write_text("second")
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer first"
    fake.now += 61
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer second"


async def test_a_refused_token_is_read_again_at_once(account: Path) -> None:
    """Reload does not wait for the minute."""
    access = PodAccess(POD, FakePace().pace.clock, account)
    (account / "token").write_text("second")
    await access.reload()
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer second"


def test_ipv6_hosts_are_bracketed(account: Path) -> None:
    """An IPv6 cluster has a valid URL too."""
    access = PodAccess({**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, lambda: 0.0, account)
    assert access.base == "https://[fd00::1]:443"


def test_outside_of_a_cluster_the_ways_in_are_named(tmp_path: Path) -> None:
    """Who started us learns which flags there are."""
    with pytest.raises(NoCluster, match="--from DIR or --kubeconfig FILE"):
        PodAccess({}, lambda: 0.0, tmp_path)


def test_a_pod_without_token_is_one_sentence(tmp_path: Path) -> None:
    """A service account that is not mounted is named."""
    with pytest.raises(NoCluster, match="service account: cannot be read"):
        PodAccess(POD, lambda: 0.0, tmp_path)


async def test_a_kubeconfig_leads_to_its_server_with_its_token(
    api: FakeAPI, tmp_path: Path
) -> None:
    """Server and token of the current context are used."""
    path = tmp_path / "config"
    path.write_text(
        f"""
apiVersion: v1
kind: Config
current-context: here
clusters: [{{name: c, cluster: {{server: "{api.base}"}}}}]
users: [{{name: u, user: {{token: secret}}}}]
contexts: [{{name: here, context: {{cluster: c, user: u}}}}]
"""
    )
    connection = await connect(path, FakePace().pace.clock)
    try:
        async with await connection.get("/api/v1/namespaces", {"limit": "1"}, "a/b", 5.0) as found:
            assert found.status == 200
    finally:
        await connection.close()
    assert api.seen[0].headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize("text", [None, "", "[]", "a: [", "clusters: 7", "kind: Config"])
async def test_an_unusable_kubeconfig_is_one_sentence(tmp_path: Path, text: str | None) -> None:
    """An absent, empty or broken file is named, with its flag."""
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    with pytest.raises(NoCluster, match="--kubeconfig"):
        await connect(path, FakePace().pace.clock)
