"""Environment variables of NCCL, UCX and others, appended; the user's own values win.

Source: kubernetes/api ``core/v1/types.go`` (``$(NAME)`` expands, ``$$(`` is ``$(``).
"""

import re
from collections.abc import Iterator

from policies.intent import Equipped, Intent
from policies.refusal import Notice
from webhook.pods import pod as pods
from webhook.pods.edits import SetEnv
from webhook.pods.pod import Pod

_MAX_PKEY_INDEX = 127
"""At most 128 PKeys a port (ib-kubernetes); a larger value is a key, not an index."""
EMPTY = "nothing"
_WATCHED = frozenset({"NCCL_IB_GID_INDEX", "NCCL_IB_HCA", "NCCL_IB_PKEY"})
_EXACT_HCA = re.compile(r"\^?=")


def inject(pod: Pod, intent: Intent) -> Iterator[SetEnv | Notice]:
    """Yield defaults and forced values; containers with a file get the defaults there."""
    forced = dict(intent.forced_env)
    defaults = {name: value for name, value in intent.env if name not in forced}
    for one in intent.equipped:
        container = pods.container_at(pod, one.place)
        known = {
            item.name: item
            for item in container.get("env") or ()
            if item.name in forced or item.name in _WATCHED
        }
        if not one.env_by_file:
            for name, value in defaults.items():
                yield SetEnv(one.place, name, _escaped(value), replaces=False)
        for name, value in forced.items():
            literal = _escaped(value)
            if name in known and not known[name].is_value(literal):
                text = f"container {one.name}: {name} is set to {value or EMPTY} by the policy"
                yield Notice(text, 4)
            yield SetEnv(one.place, name, literal, replaces=True)
        yield from _contradictions(one, {name: known[name].value for name in known}, intent)


def _escaped(value: str) -> str:
    """Return a literal value that Kubernetes does not expand."""
    return value.replace("$(", "$$(") if "$(" in value else value


def _contradictions(
    one: Equipped, known: dict[str, str | None], intent: Intent
) -> Iterator[Notice]:
    """Warn of the user's own values that cannot be right on these networks."""
    if intent.shares_hca and known.get("NCCL_IB_GID_INDEX"):
        yield Notice(
            f"container {one.name}: NCCL_IB_GID_INDEX differs between pods on shared RoCE devices",
            3,
        )
    hca = known.get("NCCL_IB_HCA")
    if intent.has_vfs and hca and _EXACT_HCA.match(hca):
        yield Notice(
            f"container {one.name}: NCCL_IB_HCA {hca} may not exist: VF device names are assigned "
            "at run time",
            3,
        )
    pkey = known.get("NCCL_IB_PKEY")
    if pkey and not _is_index(pkey):
        yield Notice(
            f"container {one.name}: NCCL_IB_PKEY is an index into the port's table, not key {pkey}",
            3,
        )


def _is_index(text: str) -> bool:
    try:
        return 0 <= int(text, 0) <= _MAX_PKEY_INDEX
    except ValueError:
        return False
