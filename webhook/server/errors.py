"""What can be wrong with an HTTP request before anyone reads its review.

::

    RequestError        carries the HTTP status to answer and whether the connection is of use
    ├── BodyTooLarge    413  the client: reviews are far smaller
    ├── SlowBody        408  the client or the network: the body did not arrive in time
    ├── BrokenBody      400  the client or the network: the body ended early, or is no HTTP
    └── Overloaded      429  nobody: the client tries again
"""


class RequestError(Exception):
    """Root of this package's errors; the text is one sentence for the client.

    The connection is closed after each of them but Overloaded, since what is left of the body is
    unknown.
    """

    status = 400


class BodyTooLarge(RequestError):
    """The body is above the limit."""

    status = 413


class SlowBody(RequestError):
    """The body did not arrive in time."""

    status = 408


class BrokenBody(RequestError):
    """The body ended early or is not valid HTTP."""


class Overloaded(RequestError):
    """More is under way than we take on; the text says what of."""

    status = 429
