"""HTTP answers that are no reviews: one plain sentence and a status.

Named constructors, so that no caller fills fields.
"""

from http import HTTPStatus

from aiohttp import web

from policies.refusal import cleaned

JSON = "application/json"
LONGEST_PATH = 200
LONGEST_METHOD = 32
RETRY_AFTER = "1"
"""Seconds. A burst is over sooner than that."""


def review(body: bytes) -> web.Response:
    """Return an AdmissionReview."""
    return web.Response(body=body, content_type=JSON)


def sentence(status: int, text: str) -> web.Response:
    """Return a status with a sentence for a person."""
    return web.Response(status=status, text=f"{text}\n")


def last_words(status: int, text: str) -> web.Response:
    """Return a status with a sentence, after which the connection is closed."""
    response = sentence(status, text)
    response.force_close()
    return response


def unknown_path(path: str, known: tuple[str, ...]) -> web.Response:
    """Return 404: there is no such path here."""
    said = cleaned(path, LONGEST_PATH)
    return sentence(HTTPStatus.NOT_FOUND, f"{said}: unknown path, want {' or '.join(known)}")


def wrong_method(method: str, path: str, allowed: str) -> web.Response:
    """Return 405 with ``Allow``."""
    said, got = cleaned(path, LONGEST_PATH), cleaned(method, LONGEST_METHOD)
    response = sentence(HTTPStatus.METHOD_NOT_ALLOWED, f"{said}: method: got {got}, want {allowed}")
    response.headers["Allow"] = allowed
    return response


def wrong_content(header: str, value: str) -> web.Response:
    """Return 415: the body is no plain JSON, going by a header."""
    want = f"want {JSON}" if header == "Content-Type" else "want none"
    return last_words(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{header}: got {value[:200]!r}, {want}")


def overloaded(reason: str) -> web.Response:
    """Return 429 with ``Retry-After``: too much at a time."""
    response = sentence(HTTPStatus.TOO_MANY_REQUESTS, f"overloaded: {reason} already; try again")
    response.headers["Retry-After"] = RETRY_AFTER
    return response


def no_http() -> web.Response:
    """Return 400: what came is not HTTP. Nothing of it is echoed."""
    return last_words(HTTPStatus.BAD_REQUEST, "request: not readable as HTTP/1.1")


def broken() -> web.Response:
    """Return 500; what happened is in the log alone."""
    return sentence(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal error: the review could not be handled; the webhook's log says why",
    )
