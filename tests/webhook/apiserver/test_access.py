"""A pod's own credentials."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.authority import make_authority
from tests.fakes.pace import FakePace
from webhook.apiserver.access import pod_access
from webhook.apiserver.errors import NoCluster

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """Return the folder of a pod's service account."""
    (tmp_path / "token").write_text("first\n")
    authority = make_authority("cluster", datetime.now(UTC))
    (tmp_path / "ca.crt").write_bytes(authority.chain)
    return tmp_path


async def test_a_pod_uses_its_service_account(account: Path) -> None:
    """Host and port come from the environment, token and CA from the folder."""
    access = pod_access(FakePace().pace.clock, POD, account)
    assert access.base == "https://10.0.0.1:443"
    assert (await access.arguments())["headers"] == {"Authorization": "Bearer first"}


async def test_a_renewed_token_is_seen_within_a_minute(account: Path) -> None:
    """The kubelet replaces the file; nobody tells us."""
    fake = FakePace()
    access = pod_access(fake.pace.clock, POD, account)
    (account / "token").write_text("second")
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer first"
    fake.now += 61
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer second"


async def test_a_refused_token_is_read_again_at_once(account: Path) -> None:
    """Reload does not wait for the minute."""
    access = pod_access(FakePace().pace.clock, POD, account)
    (account / "token").write_text("second")
    await access.reload()
    assert (await access.arguments())["headers"]["Authorization"] == "Bearer second"


def test_ipv6_hosts_are_bracketed(account: Path) -> None:
    """An IPv6 cluster has a valid URL too."""
    access = pod_access(lambda: 0.0, {**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, account)
    assert access.base == "https://[fd00::1]:443"


def test_outside_of_a_cluster_the_ways_in_are_named(tmp_path: Path) -> None:
    """Who started us learns which flags there are."""
    with pytest.raises(NoCluster, match="--from DIR or --kubeconfig FILE"):
        pod_access(lambda: 0.0, {}, tmp_path)


def test_a_pod_without_token_is_one_sentence(tmp_path: Path) -> None:
    """A service account that is not mounted is named."""
    with pytest.raises(NoCluster, match="service account: cannot be read"):
        pod_access(lambda: 0.0, POD, tmp_path)


async def test_an_unchanged_login_keeps_its_tls_context(account: Path) -> None:
    """Connections stay open: a new context for each request would mean a handshake for each."""
    fake = FakePace()
    access = pod_access(fake.pace.clock, POD, account)
    first = (await access.arguments())["ssl"]
    fake.now += 61
    assert (await access.arguments())["ssl"] is first
    await access.reload()
    assert (await access.arguments())["ssl"] is not first


async def test_a_broken_ca_is_one_sentence(account: Path) -> None:
    """What is no PEM is said, with the address it was for."""
    (account / "ca.crt").write_text("nonsense")
    access = pod_access(FakePace().pace.clock, POD, account)
    with pytest.raises(NoCluster, match="TLS credentials: cannot be used"):
        await access.arguments()


async def test_a_login_is_not_printed(account: Path) -> None:
    """A token never reaches a log by way of repr."""
    access = pod_access(FakePace().pace.clock, POD, account)
    assert "first" not in repr(vars(access))
