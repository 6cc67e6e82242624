"""An RDMANetwork beside the policies that name it: who is left outside, and who still needs it.

Only deletion is refused. The rest is told: its author is the platform admin, who may know better.
"""

from collections.abc import Iterator, Mapping

from policies import accept
from policies.crosschecks.numbers import Namer, granting, is_disputed, namers, namespaces, naming
from policies.crosschecks.write import Write
from policies.index import Network
from policies.network import RDMANetwork
from policies.partition import misfit, shown
from policies.refusal import Notice, Reason, Refusal, listed
from policies.snapshot import Snapshot

_MOST_NAMES = 3
"""Of namespaces in one warning."""


def check(write: Write, snapshot: Snapshot) -> Iterator[Notice]:
    """Yield what the author of a network should know.

    Raises:
        InvalidObject: This version cannot read it.
    """
    network = Network(write.name, write.read(RDMANetwork, write.object))
    assert network.model  # noqa: S101 made just above
    spec = network.model.spec
    problem = accept.problem(spec, snapshot.rules)
    if problem:
        yield Notice(f"not Accepted: {problem}", 1)
    if spec.mode not in accept.IMPLEMENTED:
        yield Notice(f"spec.mode: {spec.mode} is not supported by this version", 1)
    named = _named(write.name, snapshot)
    yield from _outside(network, named)
    yield from _disputed(network, named, snapshot)


def check_deletion(write: Write, snapshot: Snapshot) -> Iterator[Refusal]:
    """Yield a refusal where a policy names the network."""
    found = granting(snapshot).get(write.name)
    if found:
        yield Refusal(
            Reason.NETWORK_IN_USE,
            f"{write.title}: the RDMAPolicies of namespaces {listed(found)} name it in "
            "spec.networks; who may write these policies can take the entry out, then it can be "
            "deleted",
        )


def _named(network: str, snapshot: Snapshot) -> dict[int, tuple[Namer, ...]]:
    """Return the numbers that policies name on a network, in order, with these policies."""
    numbers = sorted(number for name, number in snapshot.claims if name == network)
    return {number: naming(snapshot, network, number) for number in numbers}


def _outside(network: Network, named: Mapping[int, tuple[Namer, ...]]) -> Iterator[Notice]:
    """Yield the policies whose numbers the network does not give out."""
    wanted = network.model.spec.partition if network.model else None
    stray = [
        namespace
        for number, found in named.items()
        if misfit(network.name, wanted, number)
        for namespace in namespaces(found)
    ]
    if stray:
        places = list(dict.fromkeys(sorted(stray)))
        many = "1 policy names" if len(places) == 1 else f"{len(places)} policies name"
        yield Notice(
            f"spec.partition: {many} numbers outside it: {listed(places, _MOST_NAMES)}; their "
            "pods are refused",
            3,
        )


def _disputed(
    network: Network, named: Mapping[int, tuple[Namer, ...]], snapshot: Snapshot
) -> Iterator[Notice]:
    """Yield the first number that policies of several tenants name, or that others hold."""
    wanted = network.model.spec.partition if network.model else None
    if wanted is None:
        return
    for number in named:
        found = namers(snapshot, network.fabric, wanted.type, number, network.name)
        holder = snapshot.holder(network.fabric, wanted.type, number)
        if is_disputed(holder, [tenant for _, tenant in found]):
            yield Notice(
                f"{shown(wanted.type, number)} of fabric {network.fabric} is not one tenant's "
                f"alone: see policies of {listed(namespaces(found), _MOST_NAMES)}",
                4,
            )
            return
