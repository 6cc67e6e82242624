"""Errors of this package.

AdmissionError
└── MalformedReview    the caller must act: what it sent is no AdmissionReview (HTTP 400)
"""


class AdmissionError(Exception):
    """Root of the package's errors; shares no parent with other packages' errors."""

    status = 500
    """HTTP status to answer."""


class MalformedReview(AdmissionError):
    """The body is no AdmissionReview of admission.k8s.io/v1."""

    status = 400
