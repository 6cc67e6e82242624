"""Which containers take part in a network.

The annotation says; else those that ask for the resource; else those that ask for an accelerator;
else those that use a resource claim; else the first app container that is no known proxy.
"""

import msgspec

from policies.accept import WHOLE_DEVICE_MODES
from policies.names import ANNOTATION_CONTAINERS
from policies.offers import Offer
from policies.refusal import Reason, Refusal, listed, quoted
from policies.subject import Container, Subject
from policies.wish import Wish, where


class Targets(msgspec.Struct, frozen=True):
    """The containers of one network."""

    equipped: tuple[Container, ...]
    """They get devices, capabilities, memory and environment."""
    companions: tuple[Container, ...] = ()
    """Further accelerator containers beside those that ask for the resource by themselves: they
    share memory and environment, so that a container that came later can still join."""


def choose(subject: Subject, wish: Wish, offer: Offer) -> Targets | Refusal:
    """Return the containers that one network equips."""
    pools = frozenset(lane.resource for lane in offer.lanes)
    able = [one for one in subject.containers if one.runs_along]
    if wish.containers:
        found = _named(subject, wish, pools)
    else:
        found = _by_rule([one for one in able if not one.excludes(pools)], pools)
    if isinstance(found, Refusal):
        return found
    if not found.equipped:
        return _all_excluded([one for one in able if one.excludes(pools)], pools)
    if offer.spec.mode in WHOLE_DEVICE_MODES:
        return _undivided(found, able, pools, offer)
    return found


def _named(subject: Subject, wish: Wish, pools: frozenset[str]) -> Targets | Refusal:
    """Return the containers that the annotation names."""
    by_name = {one.name: one for one in subject.containers}
    found: list[Container] = []
    for name in wish.containers:
        one = by_name.get(name)
        if one is None:
            problem = f"the pod has no container {quoted(name)} (it has: {listed(list(by_name))})"
        elif not one.runs_along:
            problem = (
                f"{quoted(name)} is a plain init container; only app containers and native "
                "sidecars can be equipped"
            )
        elif one.excludes(pools):
            problem = f"container {quoted(name)} sets the network's resource to 0 itself"
        else:
            found.append(one)
            continue
        return Refusal(
            Reason.CONTAINERS_INVALID,
            f"{where(ANNOTATION_CONTAINERS)}: {problem}; the pod's author can change it",
        )
    return Targets(tuple(found))


def _by_rule(able: list[Container], pools: frozenset[str]) -> Targets:
    accelerated = tuple(one for one in able if one.accelerators)
    asking = tuple(one for one in able if one.asks(pools))
    if asking:
        return Targets(asking, tuple(one for one in accelerated if not one.asks(pools)))
    if accelerated:
        return Targets(accelerated)
    claiming = tuple(one for one in able if one.claims_devices)
    if claiming:
        return Targets(claiming)
    apps = [one for one in able if one.place[0] == "containers"]
    return Targets(tuple([one for one in apps if not one.is_proxy] or apps)[:1])


def _all_excluded(excluded: list[Container], pools: frozenset[str]) -> Refusal:
    return Refusal(
        Reason.CONTAINERS_EXCLUDED,
        f"spec.containers: {listed([one.name for one in excluded])} set a resource of the network "
        f"({listed(sorted(pools))}) to 0, which leaves no container for it; the pod's author can "
        "remove the 0 or the annotation",
    )


def _undivided(
    found: Targets, able: list[Container], pools: frozenset[str], offer: Offer
) -> Targets | Refusal:
    """Return the one container of a mode that hands out whole devices, or refuse several."""
    holders = [one for one in able if one.asks(pools)]
    names = dict.fromkeys(one.name for one in (*found.equipped, *holders))
    if len(names) == 1:
        return found
    return Refusal(
        Reason.CONTAINERS_AMBIGUOUS,
        f"spec.containers: {listed(list(names))} would share the devices of network "
        f"{offer.network}, and mode {offer.spec.mode} cannot split a device over containers; the "
        f"pod's author can name one in {ANNOTATION_CONTAINERS}",
    )
