"""Network selection annotations, both spellings: parse as Multus does, and append.

Multus takes a value for JSON as soon as it holds ``[``, ``{`` or a double quote anywhere. What
Multus would refuse is refused here, when it can still be said, never repaired.

Source: Multus ``pkg/k8sclient/k8sclient.go`` (parsePodNetworkAnnotation), ``pkg/types/types.go``.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from policies import gojson
from webhook.pods import addresses
from webhook.pods.errors import InvalidSelection

MAX_INTERFACE = 15
"""Longest name of a Linux interface in bytes (IFNAMSIZ - 1)."""
_RESERVED_INTERFACES = frozenset({"eth0", "lo"})
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_INTERFACE = re.compile(r"(?!\.{1,2}$)[^\s/:]+")
"""Source: containernetworking/cni ``pkg/utils`` (ValidateInterfaceName), asked at every ADD."""
_IDENTITY_KEYS = frozenset({"name", "namespace", "interface", "interfaceRequest"})
_KNOWN_KEYS = _IDENTITY_KEYS.union(addresses.CHECKS)
_GO_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""White space as Go's ``strings.TrimSpace`` sees it; Python's ``strip`` takes more away."""


class Element(msgspec.Struct, frozen=True, gc=False):
    """One network selection element as Multus reads it."""

    name: str
    namespace: str = ""
    """Empty where the element names none."""
    interface: str = ""
    extra_keys: tuple[str, ...] = ()
    """Keys beyond name, namespace and interface, in the order of the text."""
    default_routes: tuple[str, ...] = ()


def parse(value: str) -> tuple[Element, ...]:
    """Return the elements of a selection annotation, in order.

    Raises:
        InvalidSelection: Multus would refuse it, or we and Multus could read it differently.
    """
    if not value:
        return ()
    if is_json(value):
        elements = _from_json(value)
    else:
        items = value.split(",")
        elements = tuple(_from_item(item, n) for n, item in enumerate(items, 1))
    _refuse_repeated_interfaces(elements)
    _refuse_repeated_routes(elements)
    return elements


def parse_one(value: str) -> tuple[Element, ...]:
    """Return the one element of the annotation that replaces the pod's primary network.

    Raises:
        InvalidSelection: Multus would refuse it; that annotation holds exactly one element.
    """
    elements = parse(value)
    if len(elements) != 1:
        message = f"holds {len(elements)} elements; the primary network is exactly one"
        raise InvalidSelection(message)
    return elements


def is_json(value: str) -> bool:
    """Whether Multus parses a value as JSON rather than as a comma list."""
    return "[" in value or "{" in value or '"' in value


def appended(value: str, added: Iterable[tuple[str, str, str]]) -> str:
    """Return a selection annotation with elements appended, always as a JSON list.

    Elements of a JSON text stay as they were written, byte for byte; those of a comma list become
    objects of the same meaning.

    Args:
        value: A text that `parse` has accepted; may be empty.
        added: Name, namespace and interface of each new element, which name objects and so
            need no escaping.
    """
    ours = ",".join(
        [
            f'{{"name":"{name}","namespace":"{namespace}","interface":"{interface}"}}'
            for name, namespace, interface in added
        ]
    )
    if not value:
        return f"[{ours}]"
    if is_json(value):
        theirs = value.strip()[1:-1].strip()
    else:
        theirs = ",".join(_printed(element) for element in parse(value))
    return f"[{theirs},{ours}]" if theirs and ours else f"[{theirs}{ours}]"


def _printed(element: Element) -> str:
    """Return an element of the comma form as a JSON object of the same meaning."""
    pairs = {
        "name": element.name,
        "namespace": element.namespace,
        "interface": element.interface,
    }
    named = {key: text for key, text in pairs.items() if text}
    return json.dumps(named, separators=(",", ":"))


def _from_json(value: str) -> tuple[Element, ...]:
    try:
        parsed = gojson.loads(value)
        if not isinstance(parsed, list):
            raise InvalidSelection("is JSON but not a list; write [{…}]")
        for element in parsed:
            if isinstance(element, dict):
                gojson.refuse_variants(element, _KNOWN_KEYS)
    except gojson.AmbiguousJSON as err:
        raise InvalidSelection(str(err)) from err
    return tuple(_from_object(element, n) for n, element in enumerate(parsed, 1))


def _from_object(element: Any, number: int) -> Element:  # noqa: ANN401 JSON is anything
    if not isinstance(element, dict):
        message = f"element {number} is not an object"
        raise InvalidSelection(message)
    name = _text(element, "name", number)
    if not name:
        message = f"element {number} has no name"
        raise InvalidSelection(message)
    namespace = _text(element, "namespace", number)
    _check_name(name, namespace, number)
    interface = _text(element, "interface", number) or _text(element, "interfaceRequest", number)
    _check_interface(interface, number)
    for key, check in addresses.CHECKS.items():
        if element.get(key) is not None and not check(element[key]):
            message = f"element {number} has a value of {key} that Multus refuses"
            raise InvalidSelection(message)
    return Element(
        name=name,
        namespace=namespace,
        interface=interface,
        extra_keys=tuple(key for key in element if key not in _IDENTITY_KEYS),
        default_routes=tuple(element.get("default-route") or ()),
    )


def _text(element: Mapping[str, Any], key: str, number: int) -> str:
    found = element.get(key)
    if found is not None and not isinstance(found, str):
        message = f"element {number} has a {key} that is no text"
        raise InvalidSelection(message)
    return found or ""


def _check_name(name: str, namespace: str, number: int) -> None:
    if "/" in name and not namespace:
        left, _, right = name.partition("/")
        fixed = json.dumps({"name": right, "namespace": left}, separators=(",", ":"))
        message = f"element {number} has the name {_short(name)}, which is not split; write {fixed}"
        raise InvalidSelection(message)
    if not _SUBDOMAIN.fullmatch(name) or (namespace and not _LABEL.fullmatch(namespace)):
        whole = f"{namespace}/{name}" if namespace else name
        message = f"element {number} names {_short(whole)}, which is no object name"
        raise InvalidSelection(message)


def _from_item(item: str, number: int) -> Element:
    """Return one item of the comma form: ``[namespace/]name[@interface]``."""
    text = item.strip(_GO_SPACE)
    if not text:
        message = f"item {number} is empty"
        raise InvalidSelection(message)
    place, at, interface = text.partition("@")
    namespace, slash, name = place.rpartition("/")
    namespace, name, interface = (part.strip(_GO_SPACE) for part in (namespace, name, interface))
    parts = (namespace, name) if slash else (name,)
    if "@" in interface or not all(_LABEL.fullmatch(part) for part in parts):
        message = (
            f"item {number} {_short(text)} is not [namespace/]name[@interface]; a name with a dot "
            "needs the JSON form"
        )
        raise InvalidSelection(message)
    if at and not interface:
        message = f"item {number} {_short(text)} names no interface after @"
        raise InvalidSelection(message)
    _check_interface(interface, number)
    return Element(name=name, namespace=namespace, interface=interface)


def _check_interface(interface: str, number: int) -> None:
    if not interface:
        return
    if len(interface.encode()) > MAX_INTERFACE or not _INTERFACE.fullmatch(interface):
        problem = f"is no interface name of at most {MAX_INTERFACE} characters"
    elif interface in _RESERVED_INTERFACES:
        problem = "is the pod's own interface"
    else:
        return
    message = f"element {number}: interface {_short(interface)} {problem}"
    raise InvalidSelection(message)


def _refuse_repeated_interfaces(elements: tuple[Element, ...]) -> None:
    """Refuse two elements of one interface; those without get ``net1``, ``net2``, … by place."""
    seen: dict[str, Element] = {}
    for index, element in enumerate(elements, 1):
        interface = element.interface or f"net{index}"
        other = seen.setdefault(interface, element)
        if other is not element:
            message = f"{other.name} and {element.name} both get interface {interface}"
            raise InvalidSelection(message)


def _refuse_repeated_routes(elements: tuple[Element, ...]) -> None:
    routes = [addresses.is_ipv4(one) for element in elements for one in element.default_routes]
    if routes.count(True) > 1 or routes.count(False) > 1:
        raise InvalidSelection("two elements set a default-route; Multus allows one a family")


def _short(text: str) -> str:
    clean = "".join(c if c.isprintable() else "\ufffd" for c in text[:64])
    return f'"{clean}…"' if len(text) > 64 else f'"{clean}"'  # noqa: PLR2004 the slice above
