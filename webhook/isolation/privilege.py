"""Doors around every network: privileged containers and the host's own namespaces."""

from collections.abc import Iterator

from policies.allowances import soften
from policies.refusal import Notice, Reason, Refusal
from webhook.isolation.case import Case
from webhook.pods import pod as pods


def check(case: Case) -> Iterator[Refusal | Notice]:
    """Yield privileged containers and host namespaces that the policy does not allow."""
    limits = case.tenancy.limits
    spec = pods.spec(case.pod)
    for field, limit, is_allowed in (
        ("hostNetwork", "hostNetwork", limits.host_network),
        ("hostPID", "", False),
        ("hostIPC", "", False),
    ):
        if spec.get(field) is True and not is_allowed:
            yield _overstep(case, f"spec.{field}: is true", limit, f"the pod has {field}")
    for place, container in pods.containers(case.pod):
        path = f"spec.{place[0]}[{container.get('name')}].securityContext"
        context = container.get("securityContext") or {}
        if context.get("privileged") is True and not limits.privileged:
            short = f"container {container.get('name')} is privileged"
            yield _overstep(case, f"{path}.privileged: is true", "privileged", short)
        if context.get("procMount") not in {None, "Default"}:
            short = f"container {container.get('name')} has a procMount"
            yield _overstep(case, f"{path}.procMount: is not Default", "", short)


def _overstep(case: Case, problem: str, limit: str, short: str) -> Refusal | Notice:
    """Return the refusal of one field, or its warning below Enforce.

    Args:
        case: The pod under judgement.
        problem: Path and value of the field.
        limit: Name of the policy's limit that could allow it; empty where none can.
        short: What of it fits a warning.
    """
    remedy = f", the platform admin can set podLimits.{limit}: true" if limit else ""
    return soften(
        case.tenancy,
        Refusal(
            Reason.PRIVILEGE_DENIED,
            f"{problem}, which reaches devices or networks of other tenants and which "
            f"{case.tenancy.title} does not allow; the pod's author can remove it{remedy}",
            short,
        ),
    )
