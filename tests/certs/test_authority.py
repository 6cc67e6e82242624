"""What our authority signs is what clients accept."""

from datetime import timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from certs.authority import CLOCK_SKEW, make_authority, sign_leaf
from certs.keypair import KeyPair
from tests.certs.conftest import NOW

NAMES = ["rdma-webhook.rdma-system.svc", "localhost", "127.0.0.1", "::1"]


def test_a_client_that_trusts_the_authority_accepts_the_leaf(authority: KeyPair) -> None:
    """A strict verifier accepts every name the leaf is for, and no other."""
    leaf = sign_leaf(authority, NAMES, NOW)
    builder = PolicyBuilder().store(Store([authority.leaf])).time(NOW)
    for name in NAMES:
        subject = x509.IPAddress(ip_address(name)) if ":" in name or name[0] == "1" else None
        verifier = builder.build_server_verifier(subject or x509.DNSName(name))
        verifier.verify(leaf.leaf, [])
    with pytest.raises(VerificationError):
        builder.build_server_verifier(x509.DNSName("other")).verify(leaf.leaf, [])


def test_keys_are_p256(authority: KeyPair) -> None:
    """A P-256 handshake costs the server less than one with RSA."""
    for pair in (authority, sign_leaf(authority, NAMES, NOW)):
        key = pair.leaf.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert isinstance(key.curve, ec.SECP256R1)


def test_the_leaf_may_serve_and_do_nothing_else(authority: KeyPair) -> None:
    """It is no authority, and its key only signs handshakes of a server."""
    extensions = sign_leaf(authority, NAMES, NOW).leaf.extensions
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_validity_begins_before_now_for_clocks_that_are_behind(authority: KeyPair) -> None:
    """A client whose clock is some minutes behind accepts a new leaf."""
    leaf = sign_leaf(authority, NAMES, NOW, timedelta(days=7))
    assert leaf.leaf.not_valid_before_utc == NOW - CLOCK_SKEW
    assert leaf.leaf.not_valid_after_utc == NOW + timedelta(days=7)


def test_a_leaf_never_outlives_its_authority() -> None:
    """Near the authority's end leaves are shorter."""
    authority = make_authority("short", NOW, timedelta(days=1))
    leaf = sign_leaf(authority, NAMES, NOW, timedelta(days=7))
    assert leaf.leaf.not_valid_after_utc == authority.leaf.not_valid_after_utc


def test_a_name_above_64_characters_is_still_a_name(authority: KeyPair) -> None:
    """The common name is bounded by X.509; the alternative names hold the whole."""
    name = f"{'a' * 60}.{'b' * 60}.svc"
    leaf = sign_leaf(authority, [name], NOW).leaf
    alternative = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert alternative.get_values_for_type(x509.DNSName) == [name]
