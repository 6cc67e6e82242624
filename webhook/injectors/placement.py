"""Where the pod may run: host network, node selector, tolerations."""

from collections.abc import Iterator

from policies.intent import Intent
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import SelectNode, SetSpecField, Tolerate
from webhook.pods.pod import Pod


def inject(pod: Pod, intent: Intent) -> Iterator[SetSpecField | SelectNode | Tolerate | Notice]:
    """Yield the pod-level fields; contradictions have been refused before."""
    if intent.host_network:
        yield from _host_network(pod)
    for key, value in intent.node_selector:
        yield SelectNode(key, value)
    for toleration in intent.tolerations:
        yield Tolerate(toleration)


def _host_network(pod: Pod) -> Iterator[SetSpecField | Notice]:
    """Yield hostNetwork, and the DNS policy that goes with it in place of the default.

    The API server has filled in ClusterFirst before admission, so it cannot mean a choice.
    """
    spec = pods.spec(pod)
    yield SetSpecField("hostNetwork", value=True)
    if (spec.get("dnsPolicy") or "ClusterFirst") == "ClusterFirst":
        yield SetSpecField("dnsPolicy", "ClusterFirstWithHostNet")
    ports = [
        port.get("containerPort")
        for _, container in pods.containers(pod)
        for port in container.get("ports") or ()
    ]
    if ports:
        shown = ", ".join(str(port) for port in ports[:4])
        yield Notice(f"host network: container ports {shown} become ports of the node", 3)
