"""How an RDMANetwork stands: accepted or not, advertised by nodes or not, how far it isolates."""

from policies import accept, attach
from policies.index import Network
from policies.names import NETWORK
from policies.network import Mode
from policies.refusal import cleaned, listed
from policies.snapshot import Snapshot
from policies.standing.finding import Finding, Standing, no, unknown, unreadable, yes

ACCEPTED = "Accepted"
ADVERTISED = "ResourcesAdvertised"


def stand(snapshot: Snapshot, network: Network, missing: tuple[str, ...] | None) -> Standing:
    """Return how a network stands.

    Args:
        snapshot: What is known.
        network: One of the snapshot's.
        missing: Resources of its rails that no node advertises; None where nodes were not counted.
    """
    model = network.model
    fields = {"isolation": attach.isolation(model.spec, ()).value} if model else {}
    return Standing((_accepted(snapshot, network), _advertised(network, missing)), fields)


def _accepted(snapshot: Snapshot, network: Network) -> Finding:
    problem = cleaned(snapshot.faults.get((NETWORK, "", network.name), ""))
    if problem and problem != cleaned(network.problem):
        return unreadable(ACCEPTED, problem, is_kept=True)
    if network.model is None:
        return unreadable(ACCEPTED, problem, is_kept=False)
    mode = network.model.spec.mode
    if mode not in accept.IMPLEMENTED:
        known = ", ".join(one.value for one in Mode if one in accept.IMPLEMENTED)
        text = f"mode {mode} is not supported by this version of the webhook (supported: {known})"
        return no(ACCEPTED, "ModeNotSupported", text)
    if problem:
        return no(ACCEPTED, "Invalid", problem)
    return yes(ACCEPTED, ACCEPTED, "Policies can grant this network.")


def _advertised(network: Network, missing: tuple[str, ...] | None) -> Finding:
    if network.model is None or network.model.spec.mode is Mode.DRA:
        text = "Devices of this network are not counted on nodes."
        return unknown(ADVERTISED, "NotCounted", text)
    if missing is None:
        return unknown(ADVERTISED, "NotCounted", "The nodes were not counted yet.")
    if missing:
        text = (
            f"no node advertises {listed(missing)}, so pods of this network stay Pending; whoever "
            "runs the device plugin can look at its configuration and its pods"
        )
        return no(ADVERTISED, "NotAdvertised", text)
    return yes(ADVERTISED, "Advertised", "Each rail's resource is advertised by some node.")
