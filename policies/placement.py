"""Node selectors that cannot hold together: no node would ever fit the pod."""

from policies.names import ANNOTATION_NETWORK
from policies.refusal import Reason, Refusal, quoted
from policies.select import Applicable
from policies.wish import where


def contradiction(applicable: Applicable, wanted: tuple[tuple[str, str], ...]) -> Refusal | None:
    """Return why the networks' node labels cannot hold beside each other or the pod's own.

    Args:
        applicable: The pod and its networks.
        wanted: Label and value of all its networks, contradictions side by side.
    """
    own = dict(applicable.subject.node_selector)
    seen: dict[str, str] = {}
    for key, value in wanted:
        if seen.setdefault(key, value) != value:
            names = " and ".join(order.offer.network for order in applicable.orders)
            return _refusal(
                f"{where(ANNOTATION_NETWORK)}: networks {names} need node label {key} to be both "
                f"{quoted(seen[key])} and {quoted(value)}, which no node can be; the pod's author "
                "can name one of them"
            )
        if own.get(key, value) != value:
            return _refusal(
                f"spec.nodeSelector[{key}]: is {quoted(own[key])}, but the pod's networks need "
                f"{quoted(value)}; the pod's author can remove the key or choose another network"
            )
    return None


def _refusal(message: str) -> Refusal:
    return Refusal(Reason.PLACEMENT_CONFLICT, message)
