"""The grammar of our annotations: what a pod's author asks for, parsed and never guessed."""

import re
from collections.abc import Mapping

import msgspec

from policies import quantity
from policies.names import (
    ANNOTATION_CONTAINERS,
    ANNOTATION_NETWORK,
    ANNOTATION_PARTITION,
    ANNOTATION_SHM_SIZE,
    PREFIX,
    USER_KEYS,
    WEBHOOK_KEYS,
)
from policies.refusal import Reason, Refusal, listed, quoted

ASCII_SPACE = " \t\r\n\v\f"
"""The white space that is ignored around items; nothing else is."""
MAX_COUNT = 128
"""Most attachments or tokens of one network in one pod: twice the largest nodes seen."""
MAX_ITEMS = 128
"""Most items in one list; 16 networks can be granted and each may be repeated."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_COUNT = re.compile(r"[1-9][0-9]{0,5}")
_OURS = frozenset(USER_KEYS + WEBHOOK_KEYS)


class Wish(msgspec.Struct, frozen=True):
    """What the pod's author asks for."""

    networks: tuple[tuple[str, int | None], ...]
    """Names in the order of first mention, each with its COUNT (None: the network's own)."""
    containers: tuple[str, ...] = ()
    shm_size: str = ""
    partitions: tuple[tuple[str, str], ...] = ()
    """``(network, partition)``; network is empty where one name is meant for all."""


def concerns(annotations: Mapping[str, str]) -> bool:
    """Whether an author wrote any annotation below our prefix, in any letter case."""
    return any(is_ours(key) and key not in WEBHOOK_KEYS for key in annotations)


def is_ours(key: str) -> bool:
    """Whether an annotation key is below our prefix, in any letter case."""
    head = key[: len(PREFIX)]
    return head == PREFIX or head.lower() == PREFIX


def read(annotations: Mapping[str, str]) -> Wish | Refusal | None:
    """Return what a pod's annotations ask for; None where they ask for nothing.

    Args:
        annotations: All annotations of the pod.
    """
    keys = [key for key in annotations if is_ours(key)]
    for key in keys:
        if key not in _OURS:
            return _unknown(key)
    if ANNOTATION_NETWORK not in annotations:
        return _inert(keys)
    networks = _networks(annotations[ANNOTATION_NETWORK])
    if isinstance(networks, Refusal):
        return networks
    if len(keys) == 1:
        return Wish(networks)
    return _with_options(networks, annotations)


def _with_options(
    networks: tuple[tuple[str, int | None], ...], annotations: Mapping[str, str]
) -> Wish | Refusal:
    containers = _containers(annotations.get(ANNOTATION_CONTAINERS))
    if isinstance(containers, Refusal):
        return containers
    shm_size = _shm_size(annotations.get(ANNOTATION_SHM_SIZE))
    if isinstance(shm_size, Refusal):
        return shm_size
    partitions = _partitions(annotations.get(ANNOTATION_PARTITION))
    if isinstance(partitions, Refusal):
        return partitions
    return Wish(networks, containers, shm_size, partitions)


def where(key: str) -> str:
    """Return the field path of an annotation, as messages write it."""
    return f"metadata.annotations[{key}]"


def _unknown(key: str) -> Refusal:
    lowered = key.lower()
    near = next((ours for ours in USER_KEYS if lowered in {ours, ours + "s"}), ANNOTATION_NETWORK)
    return Refusal(
        Reason.ANNOTATION_UNKNOWN,
        f"{where(key)}: {quoted(key)} is no annotation of this webhook; its author can write "
        f"{near} (known: {', '.join(USER_KEYS)})",
    )


def _inert(keys: list[str]) -> Refusal | None:
    inert = next((key for key in keys if key in USER_KEYS), None)
    if inert is None:
        return None
    return Refusal(
        Reason.ANNOTATION_INERT,
        f"{where(inert)}: has no effect without {ANNOTATION_NETWORK}; the pod's author can add "
        "that annotation or remove this one",
    )


def _items(text: str, key: str, reason: Reason) -> list[str] | Refusal:
    """Return the items of a comma list, white space around them ignored."""
    number = text.count(",") + 1
    items = [item.strip(ASCII_SPACE) for item in text.split(",", MAX_ITEMS)]
    if number > MAX_ITEMS:
        problem = f"holds {number} items, want at most {MAX_ITEMS}"
    elif items == [""]:
        problem = (
            "is blank; write the name of an RDMANetwork"
            if key == ANNOTATION_NETWORK
            else ("is blank; write a value or remove it")
        )
    elif "" in items:
        problem = f"item {items.index('') + 1} of {quoted(text)} is empty; remove a comma"
    else:
        return items
    return Refusal(reason, f"{where(key)}: {problem} (the pod's author can change it)")


def _networks(text: str) -> tuple[tuple[str, int | None], ...] | Refusal:
    if _NAME.fullmatch(text):
        return ((text, None),)
    items = _items(text, ANNOTATION_NETWORK, Reason.NETWORK_INVALID)
    if isinstance(items, Refusal):
        return items
    counts: dict[str, int | None] = {}
    for item in items:
        name, colon, count = item.partition(":")
        if not _NAME.fullmatch(name) or (colon and not _COUNT.fullmatch(count)):
            return Refusal(
                Reason.NETWORK_INVALID,
                f"{where(ANNOTATION_NETWORK)}: {quoted(item)} is neither NAME nor NAME:COUNT; "
                "the pod's author can write the name of an RDMANetwork in lower case, with a COUNT "
                f"from 1 to {MAX_COUNT} where it is not the usual one, as train-ib or train-ib:2",
            )
        counts[name] = _added(counts, name, int(count) if colon else None)
    for name, total in counts.items():
        if total is not None and total > MAX_COUNT:
            return over_count(name, total)
    return tuple(counts.items())


def over_count(name: str, total: int) -> Refusal:
    """Return the refusal of a COUNT above `MAX_COUNT`."""
    return Refusal(
        Reason.COUNT_OUT_OF_RANGE,
        f"{where(ANNOTATION_NETWORK)}: asks for {name} {total} times, want at most {MAX_COUNT}; "
        "the pod's author can change it",
    )


def _added(counts: dict[str, int | None], name: str, count: int | None) -> int | None:
    """Return the COUNT after one more mention: ``a,a`` is ``a:2``, a lone ``a`` has none."""
    if name not in counts:
        return count
    return (counts[name] or 1) + (count or 1)


def _containers(text: str | None) -> tuple[str, ...] | Refusal:
    if text is None:
        return ()
    items = _items(text, ANNOTATION_CONTAINERS, Reason.CONTAINERS_INVALID)
    if isinstance(items, Refusal):
        return items
    doubled = sorted({item for item in items if items.count(item) > 1})
    if doubled:
        return Refusal(
            Reason.CONTAINERS_INVALID,
            f"{where(ANNOTATION_CONTAINERS)}: names {listed([quoted(d) for d in doubled])} twice; "
            "the pod's author can name each container once",
        )
    return tuple(items)


def _shm_size(text: str | None) -> str | Refusal:
    if text is None:
        return ""
    size = text.strip(ASCII_SPACE)
    value = quantity.parse(size)
    if value is None or value <= 0 or value != value.to_integral_value():
        return Refusal(
            Reason.SHM_SIZE_INVALID,
            f"{where(ANNOTATION_SHM_SIZE)}: {quoted(text)} is no size in bytes; the pod's author "
            "can write a quantity such as 16Gi",
        )
    return size


def _partitions(text: str | None) -> tuple[tuple[str, str], ...] | Refusal:
    if text is None:
        return ()
    items = _items(text, ANNOTATION_PARTITION, Reason.PARTITION_INVALID)
    if isinstance(items, Refusal):
        return items
    pairs: list[tuple[str, str]] = []
    for item in items:
        left, equals, right = (part.strip(ASCII_SPACE) for part in item.partition("="))
        network, name = (left, right) if equals else ("", left)
        bad_name = not _NAME.fullmatch(name) or (equals and not _NAME.fullmatch(network))
        if bad_name or (not equals and len(items) > 1) or network in dict(pairs):
            return Refusal(
                Reason.PARTITION_INVALID,
                f"{where(ANNOTATION_PARTITION)}: {quoted(text)} is neither NAME nor a list of "
                "NETWORK=NAME with each network once; the pod's author can change it",
            )
        pairs.append((network, name))
    return tuple(pairs)
