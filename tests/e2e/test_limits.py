"""What Kubernetes enforces after us: Pod Security and ResourceQuota judge the equipped pod."""

from collections.abc import Callable

import pytest

from tests.harness import tenants
from tests.harness.controlplane import ControlPlane
from tests.harness.tenants import NETWORK, Tenant

MakeTenant = Callable[..., Tenant]

ENFORCE = "pod-security.kubernetes.io/enforce"
CAREFUL = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
    "capabilities": {"drop": ["ALL"]},
}
"""What Pod Security level restricted asks of a container."""
ASKING = tenants.pod(
    "careful",
    {NETWORK: "roce"},
    containers=[{"name": "main", "image": "example", "securityContext": CAREFUL}],
)


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_pod_security_is_explained_before_it_refuses(
    controlplane: ControlPlane, make_tenant: MakeTenant, level: str
) -> None:
    """A namespace gets the level while we run: the user reads of the three ways out, from us."""
    tenant = make_tenant("roce")
    controlplane.add_namespace(tenant.namespace, {ENFORCE: level})

    def refusal() -> str | None:
        status, answer = tenants.post(
            controlplane, tenant.namespace, ASKING, user=tenant.user, dry_run=True
        )
        is_ours = status == 403 and answer["reason"] == "PodSecurityConflict"
        return str(answer["message"]) if is_ours else None

    said = controlplane.wait_for(f"level {level} is known", refusal)
    for way_out in ("relax the level", "podSecurityConflict: OmitCapabilities", "add: []"):
        assert way_out in said


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_pod_security_takes_a_pod_whose_capabilities_are_omitted(
    controlplane: ControlPlane, make_tenant: MakeTenant, level: str
) -> None:
    """With ``OmitCapabilities`` the pod passes the real Pod Security, with all else it needs."""
    limits = {"capabilities": ["IPC_LOCK"], "podSecurityConflict": "OmitCapabilities"}
    tenant = make_tenant("roce", podLimits=limits)
    controlplane.add_namespace(tenant.namespace, {ENFORCE: level})

    def is_known() -> bool:
        status, answer = tenants.post(
            controlplane, tenant.namespace, ASKING, user=tenant.user, dry_run=True
        )
        return status == 201 and "IPC_LOCK" not in str(answer["spec"])

    controlplane.wait_for(f"level {level} is known", is_known)
    status, stored = tenants.post(controlplane, tenant.namespace, ASKING, user=tenant.user)
    assert status == 201, stored
    container = tenants.essential(stored)["containers"]["main"]
    assert "add" not in container["securityContext"]["capabilities"]
    assert "ALL" in container["securityContext"]["capabilities"]["drop"]
    assert container["resources"]["limits"] == {"rdma/hca_r0": "1", "rdma/hca_r1": "1"}
    assert len(tenants.selections(stored)) == 2


def test_a_quota_counts_what_we_ask_for(
    controlplane: ControlPlane, make_tenant: MakeTenant
) -> None:
    """ResourceQuota sees the devices of the equipped pod: the second pod is one too many."""
    tenant = make_tenant("roce")
    path = f"/api/v1/namespaces/{tenant.namespace}/resourcequotas"
    quota = {"metadata": {"name": "rdma"}, "spec": {"hard": {"requests.rdma/hca_r0": "1"}}}
    controlplane.request("POST", path, quota)
    controlplane.wait_for(
        "the quota is counted",
        lambda: controlplane.request("GET", f"{path}/rdma").get("status", {}).get("used"),
    )
    outcomes = [
        tenants.post(
            controlplane,
            tenant.namespace,
            tenants.pod(name, {NETWORK: "roce"}),
            user=tenant.user,
        )
        for name in ("first", "second")
    ]
    assert [status for status, _ in outcomes] == [201, 403]
    assert "exceeded quota: rdma, requested: requests.rdma/hca_r0=1" in outcomes[1][1]["message"]
    assert (
        tenants.post(controlplane, tenant.namespace, tenants.pod("plain"), user=tenant.user)[0]
        == 201
    )
