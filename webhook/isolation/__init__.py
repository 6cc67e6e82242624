"""What a tenant may not do by hand, judged on a pod that is about to be equipped. Pure.

One check a file, all ``check(case) -> Iterator[Refusal | Pending | Notice]``. A check that only
concerns the pod's own rights yields what `policies.allowances.soften` makes of its refusal, so
that a policy below Enforce warns; content, numbers and other namespaces are never softened.
"""

from collections.abc import Callable, Iterator
from typing import Final

from policies.refusal import Notice, Pending, Refusal
from webhook.isolation import capabilities, devices, privilege, selections
from webhook.isolation.case import Case

Finding = Refusal | Pending | Notice
Check = Callable[[Case], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    selections.check,
    privilege.check,
    capabilities.check,
    devices.check,
)


def judge(case: Case) -> tuple[Notice, ...] | Refusal | Pending:
    """Return the warnings of a pod that may pass, or the first thing that it may not do."""
    notices: list[Notice] = []
    for check in CHECKS:
        for finding in check(case):
            if not isinstance(finding, Notice):
                return finding
            notices.append(finding)
    return tuple(notices)


__all__ = ["CHECKS", "Case", "judge"]
