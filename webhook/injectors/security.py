"""Linux capabilities: added to equipped containers, dropped in every container."""

from collections.abc import Iterator

from policies.intent import Intent
from policies.refusal import Notice, listed
from webhook.pods import pod as pods
from webhook.pods.edits import AddCapability, DropCapability
from webhook.pods.pod import Container, Place, Pod


def inject(pod: Pod, intent: Intent) -> Iterator[AddCapability | DropCapability | Notice]:
    """Yield capabilities; a privileged container has all of them and gets none."""
    equipped = {one.place for one in intent.equipped if one.has_devices}
    for place, container in pods.containers(pod):
        if pods.is_privileged(container):
            if place in equipped:
                yield Notice(
                    f"container {container.get('name')} is privileged: it reaches every device of "
                    "the node, whatever network it is on",
                    1,
                )
            continue
        if place in equipped:
            yield from _added(pod, place, container, intent.add_capabilities)
        for name in intent.drop_capabilities:
            yield DropCapability(place, name)


def _added(
    pod: Pod, place: Place, container: Container, wanted: tuple[str, ...]
) -> Iterator[AddCapability | Notice]:
    """Yield the capabilities of an equipped container; one that its author drops stays dropped."""
    own = ((container.get("securityContext") or {}).get("capabilities") or {}).get("drop") or ()
    added = tuple(name for name in wanted if name not in own)
    for name in added:
        yield AddCapability(place, name)
    if added:
        yield from _inert(pod, container, added)
    dropped = [name for name in wanted if name in own]
    if dropped:
        yield Notice(
            f"container {container.get('name')} drops {listed(dropped)} itself, which RDMA needs", 2
        )


def _inert(pod: Pod, container: Container, added: tuple[str, ...]) -> Iterator[Notice]:
    """Warn where an added capability has no effect.

    Source: containerd and CRI-O clear ambient capabilities, so a non-root process keeps none;
    ib_umem_get asks for the capability in the initial user namespace.
    """
    name, names = container.get("name"), listed(added, most=2)
    if pods.spec(pod).get("hostUsers") is False:
        yield Notice(f"container {name}: {names} is inert with hostUsers: false", 2)
        return
    own = container.get("securityContext") or {}
    whole = pods.spec(pod).get("securityContext") or {}
    user = own.get("runAsUser")
    user = whole.get("runAsUser") if user is None else user
    non_root = own.get("runAsNonRoot")
    non_root = whole.get("runAsNonRoot") if non_root is None else non_root
    if user or (user is None and non_root):
        who = f"uid {user}" if user else "non-root"
        yield Notice(
            f"container {name} runs as {who}: {names} is inert, the node needs memlock unlimited",
            2,
        )
