"""``KeyPair``: a certificate with its private key, in PEM and parsed.

Knows PEM; knows neither files nor who issued the certificate.
"""

from dataclasses import dataclass, field
from typing import Self

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from certs.errors import MalformedPair, MismatchedPair

DER = serialization.Encoding.DER
SUBJECT_PUBLIC_KEY = serialization.PublicFormat.SubjectPublicKeyInfo


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and the private key that belongs to it.

    Attributes:
        chain: PEM, the leaf first, then intermediates.
        key: PEM, not encrypted. Never printed.
        leaf: The first certificate of ``chain``.
    """

    chain: bytes
    key: bytes = field(repr=False)
    leaf: x509.Certificate = field(compare=False)

    @classmethod
    def parse(
        cls, chain: bytes, key: bytes, origin: str = "pair", key_origin: str | None = None
    ) -> Self:
        """Return the pair written in two PEM texts.

        Args:
            chain: One or more certificates, the leaf first.
            key: The leaf's private key, not encrypted.
            origin: How messages name this pair, and its certificate.
            key_origin: How they name its key; as the pair if not given.

        Raises:
            MalformedPair: One of the texts is not readable PEM.
            MismatchedPair: The key is not the leaf's.
        """
        leaf = _parse_leaf(chain, origin)
        public = _public_part(key, key_origin or origin)
        if public != leaf.public_key().public_bytes(DER, SUBJECT_PUBLIC_KEY):
            raise MismatchedPair(
                f"{key_origin or origin}: private key: does not belong to the certificate "
                f"{leaf.subject.rfc4514_string() or '(no subject)'}"
                f"{f' of {origin}' if key_origin else ''}"
            )
        return cls(chain=chain, key=key, leaf=leaf)


def _parse_leaf(chain: bytes, origin: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(chain)[0]
    except ValueError as err:
        raise MalformedPair(f"{origin}: certificate: not readable as PEM: {err}") from err


def _public_part(key: bytes, origin: str) -> bytes:
    try:
        private = serialization.load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as err:
        reason = str(err).split(".", 1)[0]
        raise MalformedPair(
            f"{origin}: private key: not readable as unencrypted PEM: {reason}"
        ) from err
    return private.public_key().public_bytes(DER, SUBJECT_PUBLIC_KEY)
