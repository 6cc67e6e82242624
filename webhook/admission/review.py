"""AdmissionReview v1: the request that we read of it, and the response that we write.

Only the fields that decisions touch are decoded; the parser skips the others.

Source: kubernetes/api ``admission/v1/types.go``; apiserver ``request/admissionreview.go`` for what
a response must hold (same uid, patch and patchType both or neither).
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Generic, TypedDict, TypeVar

import msgspec

from policies.names import GROUP
from webhook.admission.errors import MalformedReview
from webhook.pods.patch import Op
from webhook.pods.pod import Metadata, Pod

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
MAX_WARNINGS = 3
MAX_WARNING = 120
"""Longest warning in characters (kubernetes/api: "will be truncated")."""


class GroupVersionKind(msgspec.Struct, frozen=True, gc=False):
    """The kind of the object under review."""

    group: str = ""
    version: str = ""
    kind: str = ""


class OldObject(TypedDict, total=False):
    """The object before an UPDATE: only what a warning needs."""

    metadata: Metadata | None


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """The part of an AdmissionRequest that we read, whatever it is about."""

    uid: str
    operation: str = ""
    namespace: str | None = None
    kind: GroupVersionKind = GroupVersionKind()
    sub_resource: str | None = None
    dry_run: bool | None = None


class AdmissionRequest(Request, frozen=True, rename="camel"):
    """A request about a pod, which is decoded in part."""

    object: Pod | None = None
    old_object: OldObject | None = None


class OwnMetadata(TypedDict, total=False):
    """The metadata of an object of ours; what its managers own is the longer part, and skipped."""

    name: str | None
    generation: int | None


class OwnObject(TypedDict, total=False):
    """An object of ours: where it is, and its spec whole."""

    metadata: OwnMetadata | None
    spec: Any


class ObjectRequest(Request, frozen=True, rename="camel"):
    """A request about any object, whose bytes are decoded once it is known to be ours."""

    name: str | None = None
    object: msgspec.Raw = msgspec.Raw(b"null")
    old_object: msgspec.Raw = msgspec.Raw(b"null")


_Asked = TypeVar("_Asked", bound=Request)


class _Review(msgspec.Struct, Generic[_Asked], rename="camel"):
    api_version: str
    kind: str
    request: _Asked


_POD_DECODER = msgspec.json.Decoder(_Review[AdmissionRequest])
_OBJECT_DECODER = msgspec.json.Decoder(_Review[ObjectRequest])
_OWN_DECODER = msgspec.json.Decoder(OwnObject | None)
_ENCODER = msgspec.json.Encoder()


def decode(body: bytes) -> AdmissionRequest:
    """Return the request of an AdmissionReview about a pod.

    Raises:
        MalformedReview: See `decode_object`; also where a field of the pod that we read has
            another type.
    """
    return _decoded(_POD_DECODER, body)


def decode_object(body: bytes) -> ObjectRequest:
    """Return the request of an AdmissionReview about an object that may be ours.

    Raises:
        MalformedReview: Not UTF-8, not JSON, not an AdmissionReview of v1, or a field that we
            read has another type; the message says which and where.
    """
    return _decoded(_OBJECT_DECODER, body)


def decode_own(raw: msgspec.Raw) -> OwnObject | None:
    """Return an object of ours, or None where the request has none.

    Raises:
        MalformedReview: A field that we read has another type.
    """
    try:
        return _OWN_DECODER.decode(raw)
    except (msgspec.DecodeError, RecursionError) as err:
        message = f"request body: no object of {GROUP}: {err}"
        raise MalformedReview(message) from err


def _decoded(decoder: msgspec.json.Decoder[_Review[_Asked]], body: bytes) -> _Asked:
    try:
        if not body.isascii():
            body.decode()
        review = decoder.decode(body)
    except UnicodeDecodeError as err:
        message = f"request body: not UTF-8 at byte {err.start + 1}"
        raise MalformedReview(message) from err
    except (msgspec.DecodeError, RecursionError) as err:
        message = f"request body: no AdmissionReview of {API_VERSION}: {err}"
        raise MalformedReview(message) from err
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        message = (
            f"request body: got {review.kind[:63]!r} of {review.api_version[:63]!r}, "
            f"want {KIND} of {API_VERSION}"
        )
        raise MalformedReview(message)
    request = review.request
    if not request.uid:
        raise MalformedReview("request body: request.uid is empty, so no answer can be matched")
    if request.operation not in OPERATIONS:
        message = (
            f"request body: request.operation: got {request.operation[:63]!r}, "
            f"want one of {', '.join(OPERATIONS)}"
        )
        raise MalformedReview(message)
    return request


def head(
    *,
    ops: Sequence[Op] = (),
    refusal: tuple[int, str, str] | None = None,
    warnings: Sequence[str] = (),
    audit: dict[str, str] | None = None,
) -> bytes:
    """Return the AdmissionReview that answers requests, without the uid of one (see `closed`).

    Args:
        ops: The patch; none means that the pod stays as it is (and no patch is sent).
        refusal: HTTP code, CamelCase reason and message; None means allowed.
        warnings: For the author: at most `MAX_WARNINGS`, each at most `MAX_WARNING` characters.
        audit: Audit annotations, keys without the webhook's name.
    """
    response: dict[str, Any] = {"allowed": refusal is None}
    if refusal is not None:
        code, reason, message = refusal
        response["status"] = {
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
        }
    elif ops:
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(_ENCODER.encode(ops)).decode()
    if warnings:
        response["warnings"] = warnings
    if audit:
        response["auditAnnotations"] = audit
    review = {"apiVersion": API_VERSION, "kind": KIND, "response": response}
    return _ENCODER.encode(review).removesuffix(b"}}")


def closed(head: bytes, uid: str) -> bytes:
    """Return the AdmissionReview that answers the request of one uid."""
    return b'%b,"uid":%b}}' % (head, _ENCODER.encode(uid))
