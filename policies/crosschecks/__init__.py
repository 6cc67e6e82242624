"""What one of our objects cannot say beside the others: judged as it is written or deleted. Pure.

CEL in the CRDs judges one object by itself; here an object is held against all that the snapshot
knows. One kind a file. Only what a request changed can be refused: what was there before is a
warning, for an admin must be able to repair the rest. Who may write at all is not known here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from policies import names
from policies.crosschecks import network, partition, policy
from policies.crosschecks.write import CREATE, DELETE, MISSING, UPDATE, Write
from policies.errors import InvalidObject
from policies.refusal import Notice, Refusal
from policies.snapshot import Snapshot

Finding = Refusal | Notice
Check = Callable[[Write, Snapshot], Iterator[Finding]]

CHECKS: Final[Mapping[tuple[str, str], Check]] = {
    (names.NETWORK, CREATE): network.check,
    (names.NETWORK, UPDATE): network.check,
    (names.NETWORK, DELETE): network.check_deletion,
    (names.PARTITION, CREATE): partition.check,
    (names.PARTITION, DELETE): partition.check_deletion,
    (names.POLICY, CREATE): policy.check,
    (names.POLICY, UPDATE): policy.check,
}
"""Kind and operation to what is looked at; the registration asks about these and no others."""


def judge(write: Write, snapshot: Snapshot) -> tuple[Notice, ...] | Refusal:
    """Return the warnings about a request that may pass, or the first thing that is refused.

    An object that this version cannot read is none of its business: the API server's schema has
    taken it, and a later version may have written it.
    """
    check = CHECKS.get((write.kind, write.operation))
    if check is None:
        return ()
    notices: list[Notice] = []
    try:
        for finding in check(write, snapshot):
            if isinstance(finding, Refusal):
                return finding
            notices.append(finding)
    except InvalidObject as err:
        return (Notice(f"this version does not read it: {err}", 1),)
    return tuple(notices)


__all__ = ["CHECKS", "CREATE", "MISSING", "UPDATE", "Write", "judge"]
