"""What can go wrong between us and where objects come from.

::

    WatchError
    ├── NoCluster       there is no way to reach a cluster: who started us
    ├── UnreadableFile  a file of the folder cannot be parsed: its author
    └── StreamError     the API server or the way to it; each is tried again
        ├── Unreachable     no connection, or it broke
        ├── Silent          the connection lives and says nothing
        ├── Unauthorized    401: our token
        ├── Forbidden       403: our role
        ├── KindAbsent      404: the CustomResourceDefinition
        ├── Expired         410: our place in the stream is gone; list again
        ├── Busy            429 or 5xx: wait as long as it says
        └── BrokenAnswer    an answer that is not what the API promises
"""


class WatchError(Exception):
    """Root of this package's errors; the text is one sentence."""


class NoCluster(WatchError):
    """There is no way to reach a cluster: no usable kubeconfig and no pod's service account."""


class UnreadableFile(WatchError):
    """A file of the folder is not what it should be; the text names file, document and line."""


class StreamError(WatchError):
    """The API server cannot be read from right now."""


class Unreachable(StreamError):
    """There is no connection, or it broke."""


class Silent(StreamError):
    """Nothing came for longer than bookmarks are apart, so the connection is taken for dead."""


class Unauthorized(StreamError):
    """Our token is not accepted (401)."""


class Forbidden(StreamError):
    """Our role lacks a verb on a resource (403)."""


class KindAbsent(StreamError):
    """The API server does not know the kind (404): its CustomResourceDefinition is missing."""


class Expired(StreamError):
    """The resource version or the continue token is too old (410)."""


class Busy(StreamError):
    """The API server has no time for us (429, 5xx)."""

    def __init__(self, text: str, retry_after: float) -> None:
        """Keep how long it asked us to stay away, seconds; 0 where it did not say."""
        super().__init__(text)
        self.retry_after = retry_after


class BrokenAnswer(StreamError):
    """An answer is cut off, too long, or no JSON of the promised shape."""
