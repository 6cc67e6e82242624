"""Errors of this package.

PodError
├── InvalidSelection   the pod's author must act: a network selection that Multus cannot use
└── PatchDoesNotApply  we must act: our own patch does not fit the pod
"""


class PodError(Exception):
    """Root of the package's errors; shares no parent with other packages' errors."""


class InvalidSelection(PodError):
    """A network selection annotation that Multus would refuse or read differently."""


class PatchDoesNotApply(PodError):
    """Our own patch does not fit the pod: a bug of ours, never a user's mistake."""
