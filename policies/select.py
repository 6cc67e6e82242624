"""Which networks a pod is to be on: its wish, held against the policy of its namespace."""

from collections.abc import Mapping

import msgspec

from policies import wish
from policies.names import (
    ANNOTATION_NETWORK,
    ANNOTATION_PARTITION,
    DEFAULT_NETWORK_WORD,
    MAIN_PARTITION,
    POLICY,
    POLICY_NAME,
)
from policies.offers import Offer, offer
from policies.refusal import Notice, Pending, Reason, Refusal, listed, quoted
from policies.snapshot import Snapshot
from policies.subject import Subject
from policies.tenancy import Grant, Tenancy
from policies.wish import Wish, where


class Order(msgspec.Struct, frozen=True):
    """One network that the pod asked for and may use."""

    offer: Offer
    count: int | None
    """COUNT as written; None where the network decides."""


class Applicable(msgspec.Struct, frozen=True):
    """The pod is to be equipped."""

    subject: Subject
    tenancy: Tenancy
    wish: Wish
    orders: tuple[Order, ...]


class NotApplicable(msgspec.Struct, frozen=True):
    """The pod asks for nothing."""

    notices: tuple[Notice, ...] = ()


Choice = Applicable | NotApplicable | Pending | Refusal


def select(subject: Subject, snapshot: Snapshot) -> Choice:
    """Return the networks that a pod is to be on, or why there are none."""
    tenancy = None
    annotations = dict(subject.annotations)
    if ANNOTATION_NETWORK in annotations:
        tenancy = snapshot.shard(subject.namespace).tenancy
        if tenancy is None:
            return _without_policy(subject, snapshot)
    wished = wish.read(annotations)
    if wished is None:
        return NotApplicable()
    if isinstance(wished, Refusal) or tenancy is None:
        return wished if isinstance(wished, Refusal) else NotApplicable()
    return _ordered(subject, snapshot, tenancy, wished)


def _without_policy(subject: Subject, snapshot: Snapshot) -> Choice:
    problem = snapshot.shard(subject.namespace).policy_problem
    if problem:
        return Refusal(
            Reason.POLICY_NOT_READY, f"{problem}; the platform admin can correct the policy"
        )
    if snapshot.rules.missing_policy == "Ignore":
        text = f"{ANNOTATION_NETWORK} ignored: namespace {subject.namespace} has no RDMAPolicy"
        return NotApplicable((Notice(text, 0),))
    return Pending(
        POLICY,
        subject.namespace,
        POLICY_NAME,
        Refusal(
            Reason.POLICY_NOT_READY,
            f"{where(ANNOTATION_NETWORK)}: namespace {subject.namespace} has no RDMAPolicy, so no "
            "network is granted to it; try again if it is being made, or ask the platform admin "
            f"to create RDMAPolicy {subject.namespace}/{POLICY_NAME}",
        ),
    )


def _ordered(
    subject: Subject, snapshot: Snapshot, tenancy: Tenancy, wished: Wish
) -> Applicable | Pending | Refusal:
    named = _resolved_names(tenancy, wished)
    if isinstance(named, Refusal):
        return named
    chosen = dict(wished.partitions)
    if DEFAULT_NETWORK_WORD in chosen and tenancy.default_network is not None:
        chosen.setdefault(tenancy.default_network, chosen.pop(DEFAULT_NETWORK_WORD))
    stray = next((network for network in chosen if network and network not in named), None)
    if stray is not None:
        return Refusal(
            Reason.PARTITION_INVALID,
            f"{where(ANNOTATION_PARTITION)}: {quoted(stray)} is not in {ANNOTATION_NETWORK}; the "
            "pod's author can name one that is",
        )
    orders: list[Order] = []
    for name, count in named.items():
        grant = tenancy.grant(name)
        if grant is None:
            return _not_granted(tenancy, name)
        partition = _partition(chosen, tenancy, grant)
        if isinstance(partition, Refusal):
            return partition
        found = offer(snapshot, tenancy, grant, partition)
        if not isinstance(found, Offer):
            return found
        orders.append(Order(found, count))
    return Applicable(subject, tenancy, wished, tuple(orders))


def _resolved_names(tenancy: Tenancy, wished: Wish) -> dict[str, int | None] | Refusal:
    """Return the networks by their own names: the word `default` is the policy's default."""
    named: dict[str, int | None] = {}
    for word, count in wished.networks:
        name = word
        if word == DEFAULT_NETWORK_WORD:
            if tenancy.default_network is None:
                return Refusal(
                    Reason.NETWORK_NOT_GRANTED,
                    f'{where(ANNOTATION_NETWORK)}: "default" means spec.defaultNetwork of '
                    f"{tenancy.title}, which is not set; the pod's author can name a network "
                    f"(granted: {_granted(tenancy)})",
                )
            name = tenancy.default_network
        both = (named[name] or 1) + (count or 1) if name in named else count
        if both is not None and both > wish.MAX_COUNT:
            return wish.over_count(name, both)
        named[name] = both
    return named


def _granted(tenancy: Tenancy) -> str:
    return listed([grant.name for grant in tenancy.grants], most=16)


def _not_granted(tenancy: Tenancy, name: str) -> Refusal:
    return Refusal(
        Reason.NETWORK_NOT_GRANTED,
        f"{where(ANNOTATION_NETWORK)}: network {quoted(name)} is not granted to namespace "
        f"{tenancy.namespace} (granted: {_granted(tenancy)}); the platform admin can add it to "
        f"{tenancy.title}",
    )


def _partition(chosen: Mapping[str, str], tenancy: Tenancy, grant: Grant) -> str | Refusal:
    """Return the name of the partition to use on one network; empty where it lists none."""
    names = [name for name, _ in grant.partitions]
    asked = chosen.get(grant.name, chosen.get("", "") if names else "")
    if asked:
        if asked in names or (not names and asked == MAIN_PARTITION):
            return asked
        return Refusal(
            Reason.PARTITION_NOT_GRANTED,
            f"{where(ANNOTATION_PARTITION)}: partition {quoted(asked)} of network {grant.name} is "
            f"not granted to namespace {tenancy.namespace} (granted: {listed(names, most=16)}); "
            f"the platform admin can add it to {tenancy.title}",
        )
    if len(names) <= 1:
        return names[0] if names else ""
    if MAIN_PARTITION in names:
        return MAIN_PARTITION
    return Refusal(
        Reason.PARTITION_AMBIGUOUS,
        f"{where(ANNOTATION_PARTITION)}: is absent, and network {grant.name} has the partitions "
        f"{listed(names, most=16)}; the pod's author can name one",
    )
