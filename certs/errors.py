"""What can be wrong with a certificate.

::

    CertificateError
    ├── UnreadablePair     a file is absent or cannot be read: who mounts the files
    ├── MalformedPair      not PEM, or not what the PEM label says: who wrote the files
    ├── MismatchedPair     certificate and key do not belong together: who wrote the files
    ├── OutOfValidity      expired, or not valid yet: who issues certificates (or the clock)
    └── UnwritableBundle   the CA bundle cannot be written where it was asked for: who set the path
"""


class CertificateError(Exception):
    """Root of this package's errors; the text is one sentence."""


class UnreadablePair(CertificateError):
    """A certificate or key file is absent or cannot be read."""


class MalformedPair(CertificateError):
    """A certificate or key is not readable PEM."""


class MismatchedPair(CertificateError):
    """The private key does not belong to the certificate."""


class OutOfValidity(CertificateError):
    """A certificate has expired or is not valid yet."""


class UnwritableBundle(CertificateError):
    """The CA bundle cannot be written."""
