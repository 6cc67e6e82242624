"""Host interfaces that stand for the rails of a node: veth pairs, plugged into bridges."""

import hashlib

from tests.harness.sandbox import Sandbox

RAIL_MTU = 9216


class Rails:
    """The rails of one node."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Describe them: none yet."""
        self._sandbox = sandbox
        self._made: set[str] = set()

    def make(self, name: str, fabric: str | None = None) -> None:
        """Make a host interface, as ``rail0.100``, that stands for a VLAN sub-interface.

        It is one end of a veth pair, so a macvlan can be put on it; the kernel here need not know
        VLANs. Rails reach each other only where they are of one fabric.

        Args:
            name: Name of the interface, at most 15 characters. One that exists stays.
            fabric: Name of the wire it is plugged into; by default a wire of its own.
        """
        if name in self._made:
            return
        bridge, port = link_name("br", fabric or f"rail {name}"), link_name("port", name)
        made = self._sandbox.run("ip", "link", "show", bridge, check=False)
        if made.returncode != 0:
            self._ip("link", "add", bridge, "mtu", str(RAIL_MTU), "type", "bridge")
            self._ip("link", "set", bridge, "up")
        veth = ["type", "veth", "peer", "name", port, "mtu", str(RAIL_MTU)]
        self._ip("link", "add", name, "mtu", str(RAIL_MTU), *veth)
        self._ip("link", "set", port, "master", bridge, "up")
        self._ip("link", "set", name, "up")
        self._made.add(name)

    def forget(self) -> None:
        """Take note that the sandbox is gone, and all rails with it."""
        self._made.clear()

    def _ip(self, *arguments: str) -> None:
        self._sandbox.run("ip", *arguments)


def link_name(kind: str, text: str) -> str:
    """Return a name of at most 15 characters that is always the same for the text."""
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:9]}"
