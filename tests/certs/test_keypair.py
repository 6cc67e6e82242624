"""What is a pair and what is not."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from certs.authority import sign_leaf
from certs.errors import MalformedPair, MismatchedPair
from certs.keypair import KeyPair
from tests.certs.conftest import NOW


def test_a_pair_comes_back_from_its_pem(authority: KeyPair) -> None:
    """Parsing what was written gives the same pair."""
    leaf = sign_leaf(authority, ["a"], NOW)
    again = KeyPair.parse(leaf.chain, leaf.key)
    assert again == leaf
    assert again.leaf == leaf.leaf


def test_intermediates_may_follow_the_leaf(authority: KeyPair) -> None:
    """The first certificate is the one the key belongs to."""
    leaf = sign_leaf(authority, ["a"], NOW)
    assert KeyPair.parse(leaf.chain + authority.chain, leaf.key).leaf == leaf.leaf


def test_a_key_of_another_certificate_is_refused(authority: KeyPair) -> None:
    """Two halves that do not belong together are never served."""
    one, other = sign_leaf(authority, ["a"], NOW), sign_leaf(authority, ["b"], NOW)
    with pytest.raises(MismatchedPair, match=r"tls\.crt: private key: does not belong"):
        KeyPair.parse(one.chain, other.key, "tls.crt")


def test_what_is_no_pem_is_one_sentence(authority: KeyPair) -> None:
    """Empty, truncated and foreign texts name the pair and which half."""
    leaf = sign_leaf(authority, ["a"], NOW)
    for chain in (b"", b"hello", leaf.chain[:-60], leaf.key):
        with pytest.raises(MalformedPair, match="certificate: not readable"):
            KeyPair.parse(chain, leaf.key)
    for key in (b"", b"hello", leaf.key[:-60], leaf.chain):
        with pytest.raises(MalformedPair, match="private key: not readable"):
            KeyPair.parse(leaf.chain, key)


def test_an_encrypted_key_is_refused(authority: KeyPair) -> None:
    """Nobody is there to type a password."""
    leaf = sign_leaf(authority, ["a"], NOW)
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"password"),
    )
    with pytest.raises(MalformedPair, match="unencrypted"):
        KeyPair.parse(leaf.chain, key)


def test_the_key_is_not_printed(authority: KeyPair) -> None:
    """A pair in a message or log shows no private key."""
    assert b"PRIVATE" in authority.key
    assert "PRIVATE" not in repr(authority)
