"""The translation from intent to edits, one concern a file. Pure.

Injectors read the pod as it arrived and the intent, never each other; what two of them need is
decided in ``policies.resolve``. This tuple is the only registry, and its order is that of edits.
"""

from collections.abc import Callable, Iterator
from typing import Final

from policies.intent import Intent
from policies.refusal import Notice
from webhook.injectors import (
    env,
    hugepages,
    nccl_conf,
    networks,
    numa,
    placement,
    resources,
    security,
    stamp,
    volumes,
)
from webhook.pods.edits import Edit
from webhook.pods.pod import Pod

Injector = Callable[[Pod, Intent], Iterator[Edit | Notice]]

INJECTORS: Final[tuple[Injector, ...]] = (
    networks.inject,
    stamp.inject,
    placement.inject,
    resources.inject,
    hugepages.inject,
    volumes.inject,
    security.inject,
    env.inject,
    nccl_conf.inject,
    numa.inject,
)
