"""What can go wrong between us and the API server.

::

    ApiError
    ├── NoCluster       there is no way to reach a cluster: who started us
    └── CallFailed      the API server or the way to it; each is tried again
        ├── Unreachable     no connection, or it broke
        ├── Silent          the connection lives and says nothing
        ├── Unauthorized    401: our token
        ├── Forbidden       403: our role
        ├── KindAbsent      404: the CustomResourceDefinition, or the object
        ├── Conflict        409: the object was changed, or made, by somebody else meanwhile
        ├── Expired         410: our place in the stream is gone; list again
        ├── Refused         400 or 422: it does not take what we ask for
        ├── Busy            429 or 5xx: wait as long as it says
        └── BrokenAnswer    an answer that is not what the API promises
"""

from typing import ClassVar


class ApiError(Exception):
    """Root of this package's errors; the text is one sentence."""


class NoCluster(ApiError):
    """There is no way to reach a cluster: no usable kubeconfig and no pod's service account."""


class CallFailed(ApiError):
    """The API server did not do what it was asked, right now.

    Attributes:
        reason: Which of the failures it is, as one word for counters.
    """

    reason: ClassVar[str] = "failed"


class Unreachable(CallFailed):
    """There is no connection, or it broke."""

    reason = "unreachable"


class Silent(CallFailed):
    """Nothing came for longer than bookmarks are apart, so the connection is taken for dead."""

    reason = "silent"


class Unauthorized(CallFailed):
    """Our token is not accepted (401)."""

    reason = "unauthorized"


class Forbidden(CallFailed):
    """Our role lacks a verb on a resource (403)."""

    reason = "forbidden"


class KindAbsent(CallFailed):
    """The API server does not know the kind, or has no such object (404)."""

    reason = "absent"


class Conflict(CallFailed):
    """Somebody else changed or made the object meanwhile (409)."""

    reason = "conflict"


class Expired(CallFailed):
    """The resource version or the continue token is too old (410)."""

    reason = "expired"


class Refused(CallFailed):
    """The API server does not take what we ask for (400, 422); asking again is no use."""

    reason = "refused"


class Busy(CallFailed):
    """The API server has no time for us (429, 5xx)."""

    reason = "busy"

    def __init__(self, text: str, retry_after: float) -> None:
        """Keep how long it asked us to stay away, seconds; 0 where it did not say."""
        super().__init__(text)
        self.retry_after = retry_after


class BrokenAnswer(CallFailed):
    """An answer is cut off, too long, or no JSON of the promised shape."""

    reason = "broken"
