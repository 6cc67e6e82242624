"""The live context: new handshakes see new pairs, and never bad ones."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from certs.authority import sign_leaf
from certs.errors import CertificateError, UnreadablePair
from certs.files import PairFiles
from certs.keypair import KeyPair
from certs.serving import Serving
from tests.certs.conftest import NOW, Clock


class Shelf:
    """Files on disk with a live context on top."""

    def __init__(self, folder: Path, authority: KeyPair, clock: Clock) -> None:
        """Write a first pair and serve it."""
        self._folder = folder
        self._authority = authority
        self.outcomes: list[bool] = []
        self.put("first")
        files = PairFiles(folder / "tls.crt", folder / "tls.key")
        self.serving = Serving(files, clock, self.outcomes.append)

    def put(self, name: str, life: timedelta = timedelta(days=30)) -> None:
        """Write a pair for a name."""
        pair = sign_leaf(self._authority, [name, "127.0.0.1"], NOW, life)
        self.write(pair.chain, pair.key)

    def write(self, chain: bytes, key: bytes) -> None:
        """Write any two texts."""
        (self._folder / "tls.crt").write_bytes(chain)
        (self._folder / "tls.key").write_bytes(key)

    def shown(self, server_name: str | None = None) -> str:
        """Return the first name of the certificate that a new client is shown."""
        client = handshake(self.serving.context, server_name)
        return name_of(client.getpeercert(binary_form=True) or b"")


def handshake(server: ssl.SSLContext, server_name: str | None = None) -> ssl.SSLObject:
    """Let a client shake hands in memory; it looks at no clock, since ours is made up."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.set_alpn_protocols(["http/1.1"])
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = server.wrap_bio(to_server, to_client, server_side=True)
    other = client.wrap_bio(to_client, to_server, server_hostname=server_name)
    for _ in range(10):
        for side in (other, one):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return other


def name_of(certificate: bytes) -> str:
    """Return the first DNS name of a certificate (DER)."""
    found = x509.load_der_x509_certificate(certificate).extensions
    names = found.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.DNSName)[0]


@pytest.fixture
def shelf(tmp_path: Path, authority: KeyPair, clock: Clock) -> Shelf:
    """Return files with a live context."""
    return Shelf(tmp_path, authority, clock)


@pytest.mark.parametrize("server_name", [None, "first"])
def test_the_next_handshake_sees_a_new_pair(shelf: Shelf, server_name: str | None) -> None:
    """Without a restart, with and without SNI (the API server sends none to an IP address)."""
    assert shelf.shown(server_name) == "first"
    shelf.put("second")
    shelf.serving.refresh()
    assert shelf.shown(server_name) == "second"
    assert shelf.outcomes == [True]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _, __: (b"", b""),
        lambda chain, key: (chain[: len(chain) // 2], key),
        lambda chain, key: (chain, key[: len(key) // 2]),
        lambda chain, key: (key, chain),
        lambda _, key: (b"\x00\xff" * 50, key),
    ],
    ids=["empty", "truncated certificate", "truncated key", "swapped", "binary"],
)
def test_a_bad_pair_never_replaces_a_good_one(
    shelf: Shelf,
    authority: KeyPair,
    caplog: pytest.LogCaptureFixture,
    spoil: Callable[[bytes, bytes], tuple[bytes, bytes]],
) -> None:
    """The old pair is served on; the refusal is logged and counted once; a good one heals it."""
    pair = sign_leaf(authority, ["second"], NOW)
    with caplog.at_level(logging.ERROR):
        shelf.write(*spoil(pair.chain, pair.key))
        for _ in range(3):
            shelf.serving.refresh()
    assert shelf.shown() == "first"
    assert shelf.outcomes == [False]
    assert [one.message for one in caplog.records] == ["certificate_refused"]
    shelf.put("third")
    shelf.serving.refresh()
    assert shelf.shown() == "third"
    assert shelf.outcomes == [False, True]


def test_a_mismatched_pair_never_replaces_a_good_one(shelf: Shelf, authority: KeyPair) -> None:
    """A certificate with another one's key is refused."""
    one, other = (sign_leaf(authority, [name], NOW) for name in ("a", "b"))
    shelf.write(one.chain, other.key)
    shelf.serving.refresh()
    assert shelf.shown() == "first"
    assert shelf.outcomes == [False]


def test_an_expired_pair_never_replaces_a_good_one(shelf: Shelf, clock: Clock) -> None:
    """A pair whose time is over is refused."""
    shelf.put("second", timedelta(days=1))
    clock.advance(timedelta(days=2))
    shelf.serving.refresh()
    assert shelf.shown() == "first"
    assert shelf.outcomes == [False]


def test_a_pair_from_the_future_is_taken_when_its_time_comes(shelf: Shelf, clock: Clock) -> None:
    """Nobody has to touch the files again."""
    clock.advance(timedelta(hours=-1))
    shelf.put("second")
    shelf.serving.refresh()
    assert shelf.shown() == "first"
    clock.advance(timedelta(hours=1))
    shelf.serving.refresh()
    assert shelf.shown() == "second"


def test_files_that_go_away_change_nothing(shelf: Shelf, tmp_path: Path) -> None:
    """An unmounted volume keeps the served pair."""
    (tmp_path / "tls.crt").unlink()
    shelf.serving.refresh()
    assert shelf.shown() == "first"
    assert shelf.outcomes == [False]


def test_touching_the_files_is_no_reload(shelf: Shelf, tmp_path: Path) -> None:
    """The same pair again is not counted as a new one."""
    (tmp_path / "tls.crt").touch()
    shelf.serving.refresh()
    assert shelf.outcomes == []


def test_a_bad_first_pair_is_an_error(tmp_path: Path, clock: Clock) -> None:
    """At start there is nothing good to keep."""
    with pytest.raises(UnreadablePair):
        Serving(PairFiles(tmp_path / "a", tmp_path / "b"), clock)


def test_an_expired_first_pair_is_an_error(
    tmp_path: Path, authority: KeyPair, clock: Clock
) -> None:
    """A server that every client refuses had better say so."""
    pair = sign_leaf(authority, ["a"], NOW, timedelta(days=1))
    (tmp_path / "a").write_bytes(pair.chain)
    (tmp_path / "b").write_bytes(pair.key)
    clock.advance(timedelta(days=2))
    with pytest.raises(CertificateError, match="expired"):
        Serving(PairFiles(tmp_path / "a", tmp_path / "b"), clock)


def test_a_served_pair_that_expires_is_a_problem(shelf: Shelf, clock: Clock) -> None:
    """Readiness can say it."""
    assert shelf.serving.problem() == ""
    clock.advance(timedelta(days=31))
    assert "expired" in shelf.serving.problem()


def test_old_protocols_are_refused_and_http11_is_agreed(shelf: Shelf) -> None:
    """TLS 1.2 is the least, and the API server's ALPN offer is met."""
    context = shelf.serving.context
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    client = handshake(context)
    assert client.selected_alpn_protocol() == "http/1.1"
    assert client.version() == "TLSv1.3"


async def test_run_looks_again_and_again(shelf: Shelf) -> None:
    """The loop picks a change up by itself."""

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    running = asyncio.create_task(shelf.serving.run(sleep))
    shelf.put("second")
    async with asyncio.timeout(10):
        while shelf.outcomes != [True]:  # noqa: ASYNC110 - the loop under test sets it
            await asyncio.sleep(0.001)
    running.cancel()
    assert shelf.shown() == "second"
