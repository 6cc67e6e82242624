"""Intents for tests of the injectors, and what an injector makes of one."""

from collections.abc import Mapping
from typing import Any

from policies.intent import Attachment, Equipped, Intent
from policies.refusal import Notice
from tests.harness.pods import read
from webhook.injectors import Injector
from webhook.pods.edits import Edit

MAIN = ("containers", 0)
SIDE = ("containers", 1)


def attachment(name: str, *, selected: bool = False, interface: str = "rdma0") -> Attachment:
    """Return an attachment of network ``net`` by a NAD of namespace team-a."""
    return Attachment("net", "r0", "team-a", name, interface, selected)


def equipped(
    place: tuple[str, int] = MAIN,
    *resources: tuple[str, int],
    name: str = "main",
    has_devices: bool = True,
    env_by_file: bool = False,
) -> Equipped:
    """Return a container that takes part."""
    return Equipped(place, name, resources, has_devices, env_by_file)


def intent(*several: Equipped, **fields: Any) -> Intent:  # noqa: ANN401 any field of Intent
    """Return what a pod shall receive: nothing but what is said; ``main`` is equipped."""
    return Intent(**{"networks": ("net",), "equipped": several or (equipped(),)} | fields)


def injected(
    injector: Injector, pod: Mapping[str, Any], wanted: Intent
) -> tuple[list[Edit], list[str]]:
    """Return the edits of one injector in order, and the texts of its notices."""
    found = list(injector(read(pod), wanted))
    edits = [one for one in found if not isinstance(one, Notice)]
    return edits, [one.text for one in found if isinstance(one, Notice)]
