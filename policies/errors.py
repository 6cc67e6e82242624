"""Errors of this package.

PolicyError
├── InvalidObject      the author of a custom resource must act
└── AmbiguousJSON      the author of an annotation or a NetworkAttachmentDefinition must act
"""


class PolicyError(Exception):
    """Root of the package's errors; shares no parent with other packages' errors."""


class InvalidObject(PolicyError):
    """A custom resource does not parse; the message names object, path, problem and value."""


class AmbiguousJSON(PolicyError):
    """A JSON text that is broken, or that Go and Python would read differently."""
