"""Where the API server keeps each kind."""

import pytest

from webhook.apiserver.kinds import BY_NAME


@pytest.mark.parametrize(
    ("kind", "everything", "one"),
    [
        ("Namespace", "/api/v1/namespaces", "/api/v1/namespaces/n"),
        (
            "RDMANetwork",
            "/apis/rdma.io/v1alpha1/rdmanetworks",
            "/apis/rdma.io/v1alpha1/rdmanetworks/n",
        ),
        (
            "RDMAPolicy",
            "/apis/rdma.io/v1alpha1/rdmapolicies",
            "/apis/rdma.io/v1alpha1/namespaces/team/rdmapolicies/n",
        ),
        (
            "NetworkAttachmentDefinition",
            "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
            "/apis/k8s.cni.cncf.io/v1/namespaces/team/network-attachment-definitions/n",
        ),
    ],
)
def test_paths_follow_the_api_conventions(kind: str, everything: str, one: str) -> None:
    """Groups are below /apis, the core group below /api; namespaces come before the plural."""
    assert BY_NAME[kind].path() == everything
    assert BY_NAME[kind].path("team", "n") == one


def test_resources_are_named_as_in_roles() -> None:
    """A message about a missing right can be pasted into a role."""
    assert BY_NAME["Namespace"].resource == "namespaces"
    assert BY_NAME["RDMAPolicy"].resource == "rdmapolicies.rdma.io"
