"""Capabilities that the pod's author adds: within the policy's limits, none to be dropped."""

from collections.abc import Iterator

from policies.allowances import soften
from policies.refusal import Notice, Reason, Refusal, listed
from webhook.isolation.case import Case


def check(case: Case) -> Iterator[Refusal | Notice]:
    """Yield containers that add capabilities which the policy does not allow."""
    limits = case.tenancy.limits
    for one in case.subject.containers:
        beyond = [name for name in one.added if name not in limits.capabilities]
        beyond += [name for name in one.added if name in limits.required_drop]
        if not beyond or one.privileged:
            continue
        yield soften(
            case.tenancy,
            Refusal(
                Reason.CAPABILITY_DENIED,
                f"spec.{one.place[0]}[{one.name}].securityContext.capabilities.add: "
                f"{listed(list(dict.fromkeys(beyond)))} is beyond podLimits of "
                f"{case.tenancy.title}; the pod's author can remove it, the platform admin can "
                "allow it",
            ),
        )
