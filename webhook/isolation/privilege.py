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
    for field, allowed in (
        ("hostNetwork", limits.host_network),
        ("hostPID", False),
        ("hostIPC", False),
    ):
        if spec.get(field) is True and not allowed:
            yield _overstep(case, f"spec.{field}", "is true", "podLimits.hostNetwork allows")
    for place, container in pods.containers(case.pod):
        path = f"spec.{place[0]}[{container.get('name')}].securityContext"
        context = container.get("securityContext") or {}
        if context.get("privileged") is True and not limits.privileged:
            yield _overstep(case, f"{path}.privileged", "is true", "podLimits.privileged allows")
        if context.get("procMount") not in {None, "Default"}:
            yield _overstep(case, f"{path}.procMount", "is not Default", "nothing allows")


def _overstep(case: Case, path: str, problem: str, remedy: str) -> Refusal | Notice:
    return soften(
        case.tenancy,
        Refusal(
            Reason.PRIVILEGE_DENIED,
            f"{path}: {problem}, which reaches devices and networks of every tenant; "
            f"{case.tenancy.title} does not allow it ({remedy} some of this); the pod's author can "
            "remove it",
        ),
    )
