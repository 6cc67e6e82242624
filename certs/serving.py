"""The live TLS context: who connects next is served the newest good pair.

Knows ``ssl`` and a source of pairs; knows no server. A fresh context is built, checked and
swapped by one assignment, so a bad pair never replaces a good one and no handshake sees half.
"""

import logging
import os
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol

from certs.errors import CertificateError, MalformedPair
from certs.keypair import KeyPair
from certs.validity import check

LOOK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Source(Protocol):
    """Where pairs come from: files, or an authority in memory. ``str()`` names it."""

    def is_changed(self) -> bool:
        """Tell whether :meth:`read` has something new."""
        ...

    def read(self) -> KeyPair:
        """Return the newest pair, or raise a CertificateError."""
        ...


class Serving:
    """One ``ssl.SSLContext`` for a server, whose certificate can be replaced while it listens.

    Attributes:
        context: Give this to the server. It hands every handshake to the newest inner context.
        pair: The pair that is served now.
    """

    def __init__(
        self,
        source: Source,
        now: Callable[[], datetime],
        on_reload: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Read the first pair.

        Args:
            source: Where pairs come from.
            now: The clock; aware, UTC.
            on_reload: Told after every later attempt whether the new pair was taken.

        Raises:
            CertificateError: The first pair is not fit to serve; there is nothing to keep.
        """
        self._source = source
        self._now = now
        self._on_reload = on_reload
        self._complaint = ""
        self.pair = self._read()
        self._inner = build_context(self.pair)
        self.context = build_context(self.pair)
        self.context.sni_callback = self._switch

    def refresh(self) -> None:
        """Take a new pair if the source has one that is fit to serve; keep the old one if not.

        A pair that was refused is tried again each time (it may only not be valid yet), but said
        once.
        """
        if not (self._complaint or self._source.is_changed()):
            return
        try:
            pair = self._read()
            inner = build_context(pair)
        except CertificateError as err:
            self._refuse(str(err))
            return
        self._complaint = ""
        if pair == self.pair:
            return
        self._inner, self.pair = inner, pair
        self._on_reload(True)  # noqa: FBT003 - the only thing a reload has to say
        log.info("certificate_reloaded", extra={"fields": self._facts()})

    async def run(self, sleep: Callable[[float], Awaitable[object]]) -> None:
        """Look for a new pair about once a second, for ever."""
        while True:
            await sleep(LOOK_SECONDS)
            self.refresh()

    def problem(self) -> str:
        """Return why the pair that is served is not valid now; empty where it is."""
        try:
            check(self.pair, self._now(), str(self._source))
        except CertificateError as err:
            return str(err)
        return ""

    def _read(self) -> KeyPair:
        pair = self._source.read()
        check(pair, self._now(), str(self._source))
        return pair

    def _refuse(self, complaint: str) -> None:
        if complaint == self._complaint:
            return
        self._complaint = complaint
        self._on_reload(False)  # noqa: FBT003 - the only thing a reload has to say
        log.error("certificate_refused", extra={"fields": {"error": complaint, **self._facts()}})

    def _facts(self) -> dict[str, str]:
        ends = self.pair.leaf.not_valid_after_utc
        return {"source": str(self._source), "serving_until": f"{ends:%Y-%m-%dT%H:%M:%SZ}"}

    def _switch(
        self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _: ssl.SSLContext
    ) -> None:
        connection.context = self._inner


def build_context(pair: KeyPair) -> ssl.SSLContext:
    """Return a server context for HTTP/1.1 over TLS 1.2 or newer with this pair.

    Session tickets are off: the API server resumes no sessions, so they are bytes for nothing.

    Raises:
        MalformedPair: OpenSSL does not accept the pair.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    try:
        _load(context, pair)
    except ssl.SSLError as err:
        raise MalformedPair(f"certificate: OpenSSL does not accept it: {err.reason}") from err
    return context


def _load(context: ssl.SSLContext, pair: KeyPair) -> None:
    """Load exactly the bytes that were checked; ``ssl`` takes paths only.

    On Linux the path names memory, so a read-only root file system is no obstacle.
    """
    content = pair.chain.rstrip() + b"\n" + pair.key
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("pair", os.MFD_CLOEXEC)
        with os.fdopen(handle, "wb") as memory:
            memory.write(content)
            memory.flush()
            context.load_cert_chain(f"/proc/self/fd/{handle}")
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        context.load_cert_chain(file.name)
