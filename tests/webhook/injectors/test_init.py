"""The registry of injectors."""

import pkgutil

from webhook import injectors
from webhook.injectors import INJECTORS


def test_every_file_of_the_room_is_registered() -> None:
    """An injector that is written is also run."""
    files = {one.name for one in pkgutil.iter_modules(injectors.__path__)}
    assert {one.__module__.rpartition(".")[2] for one in INJECTORS} == files


def test_the_order_is_fixed() -> None:
    """Edits come annotations first, then the pod's own fields, then containers."""
    order = [one.__module__.rpartition(".")[2] for one in INJECTORS]
    assert order[:3] == ["networks", "stamp", "placement"]
    assert len(set(order)) == len(order)
