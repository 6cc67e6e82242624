"""Pairs on disk, as people and the kubelet write them."""

from pathlib import Path

import pytest

from certs.authority import sign_leaf
from certs.errors import MalformedPair, MismatchedPair, UnreadablePair, UnwritableBundle
from certs.files import PairFiles, write_bundle
from certs.keypair import KeyPair
from tests.certs.conftest import NOW


def write(folder: Path, pair: KeyPair) -> PairFiles:
    """Write a pair where a Secret would have it."""
    (folder / "tls.crt").write_bytes(pair.chain)
    (folder / "tls.key").write_bytes(pair.key)
    return PairFiles(folder / "tls.crt", folder / "tls.key")


def test_files_are_read_and_then_unchanged(tmp_path: Path, authority: KeyPair) -> None:
    """Only a change asks for another reading."""
    leaf = sign_leaf(authority, ["a"], NOW)
    files = write(tmp_path, leaf)
    assert files.is_changed()
    assert files.read() == leaf
    assert not files.is_changed()
    other = sign_leaf(authority, ["b"], NOW)
    write(tmp_path, other)
    assert files.is_changed()
    assert files.read() == other


def test_the_kubelets_swap_of_one_link_is_a_change(tmp_path: Path, authority: KeyPair) -> None:
    """Files are links through ..data to a folder that is swapped as a whole."""
    first, second = sign_leaf(authority, ["a"], NOW), sign_leaf(authority, ["b"], NOW)
    for name, pair in (("..one", first), ("..two", second)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, pair)
    (tmp_path / "..data").symlink_to("..one")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    files = PairFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    assert files.read() == first
    (tmp_path / "..tmp").symlink_to("..two")
    (tmp_path / "..tmp").rename(tmp_path / "..data")
    assert files.is_changed()
    assert files.read() == second


def test_absent_files_are_one_sentence(tmp_path: Path) -> None:
    """The path and the reason."""
    files = PairFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    assert files.is_changed()
    with pytest.raises(UnreadablePair, match=r"tls\.crt: cannot be read: No such file"):
        files.read()


def test_half_a_change_is_no_pair(tmp_path: Path, authority: KeyPair) -> None:
    """A new certificate with the old key is refused until the key follows."""
    first, second = sign_leaf(authority, ["a"], NOW), sign_leaf(authority, ["b"], NOW)
    files = write(tmp_path, first)
    files.read()
    (tmp_path / "tls.crt").write_bytes(second.chain)
    with pytest.raises(MismatchedPair) as found:
        files.read()
    for path in ("tls.crt", "tls.key"):
        assert str(tmp_path / path) in str(found.value)
    (tmp_path / "tls.key").write_bytes(second.key)
    assert files.read() == second


def test_a_bad_key_names_the_keys_file(tmp_path: Path, authority: KeyPair) -> None:
    """Who has to act looks into the file that is wrong."""
    files = write(tmp_path, sign_leaf(authority, ["a"], NOW))
    (tmp_path / "tls.key").write_bytes(b"nonsense")
    with pytest.raises(MalformedPair, match=r"tls\.key: private key: not readable"):
        files.read()


def test_a_bundle_is_written_whole_and_for_everyone(tmp_path: Path) -> None:
    """Readers see the old or the new file; nothing else is left behind."""
    path = tmp_path / "ca"
    write_bundle(path, b"one")
    write_bundle(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [one.name for one in tmp_path.iterdir()] == ["ca"]


def test_a_bundle_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """An absent folder, and a path that is a folder, are named."""
    with pytest.raises(UnwritableBundle, match="CA bundle: cannot be written"):
        write_bundle(tmp_path / "absent" / "ca", b"x")
    (tmp_path / "folder" / "full").mkdir(parents=True)
    with pytest.raises(UnwritableBundle, match="CA bundle: cannot be written"):
        write_bundle(tmp_path / "folder", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
