"""Capabilities that the pod's author adds: within the policy's limits, none to be dropped."""

from collections.abc import Iterator

from policies.allowances import soften
from policies.refusal import Notice, Reason, Refusal, listed
from webhook.isolation.case import Case


def check(case: Case) -> Iterator[Refusal | Notice]:
    """Yield containers that add capabilities which the policy does not allow."""
    limits = case.tenancy.limits
    for one in case.subject.containers:
        beyond = [
            name
            for name in one.added
            if name not in limits.capabilities or name in limits.required_drop
        ]
        if not beyond or one.privileged:
            continue
        names = listed(list(dict.fromkeys(beyond)))
        yield soften(
            case.tenancy,
            Refusal(
                Reason.CAPABILITY_DENIED,
                f"spec.{one.place[0]}[{one.name}].securityContext.capabilities.add: "
                f"{names} is beyond podLimits of "
                f"{case.tenancy.title}; the pod's author can remove it, the platform admin can "
                "allow it",
                short=f"container {one.name} adds {names}, beyond podLimits",
            ),
        )
