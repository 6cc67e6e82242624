"""Make a certificate authority and sign serving certificates with it.

Knows X.509 extensions; knows neither files nor clusters. Time comes in as an argument.
Keys are ECDSA P-256: a handshake costs the server a third less CPU than with RSA-2048.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.keypair import KeyPair

CLOCK_SKEW = timedelta(minutes=5)
"""How far another machine's clock may be behind ours."""
AUTHORITY_LIFE = timedelta(days=3650)
"""An authority in memory lives as long as its process: it must outlast any process."""
LEAF_LIFE = timedelta(days=7)

NO_USAGE = dict.fromkeys(
    (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    ),
    False,
)


def make_authority(name: str, now: datetime, life: timedelta = AUTHORITY_LIFE) -> KeyPair:
    """Return a new self-signed authority.

    Args:
        name: Its common name, for people.
        now: Aware, UTC; the authority is valid from five minutes earlier.
        life: How long from ``now`` it is valid.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage = x509.KeyUsage(**{**NO_USAGE, "key_cert_sign": True, "crl_sign": True})
    builder = (
        _builder(subject, subject, key.public_key(), (now - CLOCK_SKEW, now + life))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return _finish(builder, key, key)


def sign_leaf(
    authority: KeyPair, names: Sequence[str], now: datetime, life: timedelta = LEAF_LIFE
) -> KeyPair:
    """Return a new serving certificate for these names, signed by an authority.

    Args:
        authority: Who signs; the leaf never outlives it.
        names: DNS names and IP addresses; at least one. They become the subject alternative
            names, which is all that the API server looks at.
        now: Aware, UTC.
        life: How long from ``now`` the leaf is valid.
    """
    issuer = authority.leaf
    signer = serialization.load_pem_private_key(authority.key, password=None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise TypeError(f"authority: key: got {type(signer).__name__}, want an EC private key")
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    ends = min(now + life, issuer.not_valid_after_utc)
    builder = (
        _builder(subject, issuer.subject, key.public_key(), (now - CLOCK_SKEW, ends))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**{**NO_USAGE, "digital_signature": True}), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()),
            critical=False,
        )
    )
    return _finish(builder, key, signer)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    period: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(period[0])
        .not_valid_after(period[1])
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _finish(
    builder: x509.CertificateBuilder,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
) -> KeyPair:
    certificate = builder.sign(signer, hashes.SHA256())
    return KeyPair(
        chain=certificate.public_bytes(serialization.Encoding.PEM),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        leaf=certificate,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
