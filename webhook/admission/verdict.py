"""What becomes of a request, as named results; nothing else is ever answered."""

import msgspec

from policies.intent import Intent
from policies.refusal import Notice, Refusal
from webhook.pods.patch import Op


class Unchanged(msgspec.Struct, frozen=True):
    """Allowed as it is."""

    notices: tuple[Notice, ...] = ()


class Patched(msgspec.Struct, frozen=True):
    """Allowed with a patch; `ops` may be empty where the pod has it all already."""

    ops: tuple[Op, ...]
    intent: Intent
    notices: tuple[Notice, ...] = ()


class Denied(msgspec.Struct, frozen=True):
    """Refused with one sentence."""

    refusal: Refusal


Verdict = Unchanged | Patched | Denied
