"""Certificates in memory."""

from datetime import timedelta

from cryptography import x509

from certs.authority import LEAF_LIFE
from certs.generated import GeneratedPair, names_for
from tests.certs.conftest import Clock


def test_names_are_those_the_api_server_calls() -> None:
    """The Service's .svc name comes first; localhost is there for trying."""
    names = names_for("rdma-webhook", "rdma-system")
    assert names[0] == "rdma-webhook.rdma-system.svc"
    assert {"localhost", "127.0.0.1"} <= set(names)


def test_a_new_leaf_is_made_when_it_is_due(clock: Clock) -> None:
    """At two thirds of its life the leaf changes; the authority stays."""
    source = GeneratedPair(["a"], clock)
    assert source.is_changed()
    first, bundle = source.read(), source.bundle
    assert not source.is_changed()
    clock.advance(LEAF_LIFE * 2 / 3 + timedelta(hours=1))
    assert source.is_changed()
    second = source.read()
    assert second != first
    assert not source.is_changed()
    assert source.bundle == bundle


def test_the_bundle_is_the_authority_alone(clock: Clock) -> None:
    """What is published holds one certificate and no key."""
    bundle = GeneratedPair(["a"], clock).bundle
    (found,) = x509.load_pem_x509_certificates(bundle)
    assert found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert b"PRIVATE" not in bundle
