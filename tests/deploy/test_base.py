"""The shipped manifests: what they ask of the API server, and what the webhook itself may do."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.crosschecks import CHECKS
from policies.manifests.conditions import match_conditions, object_match_conditions
from policies.names import API_VERSION, OUR_ACCOUNT, OUR_NAMESPACE, PLURALS, VERSION

DEPLOY = Path(__file__).parents[2] / "deploy"
BASE = DEPLOY / "base"

Document = dict[str, Any]


def _documents(path: Path) -> list[Document]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def _one(file: str, kind: str) -> Document:
    (found,) = [document for document in _documents(BASE / file) if document["kind"] == kind]
    return found


@pytest.fixture
def webhook() -> Document:
    """The one webhook of the configuration."""
    (found,) = _one("webhook.yaml", "MutatingWebhookConfiguration")["webhooks"]
    return dict(found)


def test_every_resource_of_the_base_is_listed() -> None:
    """No file is forgotten in the kustomization."""
    listed = set(yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"])
    files = {path.name for path in BASE.glob("*.yaml")} - {"kustomization.yaml"}
    assert listed == files | {"../crds", "../admission"}


def test_the_condition_is_the_one_of_the_program(webhook: Document) -> None:
    """The shipped CEL equals its source, so that tests of the source are tests of the file."""
    assert webhook["matchConditions"] == match_conditions()


def test_the_webhook_is_asked_about_new_pods_only(webhook: Document) -> None:
    """Updates and subresources are not listed: a patch there breaks unrelated updates."""
    (rule,) = webhook["rules"]
    assert rule["operations"] == ["CREATE"]
    assert rule["resources"] == ["pods"]
    assert (rule["apiGroups"], rule["apiVersions"]) == ([""], ["v1"])


def test_the_webhook_fails_closed_and_fast(webhook: Document) -> None:
    """An outage holds annotated pods and nothing else, and never for long."""
    assert webhook["failurePolicy"] == "Fail"
    assert webhook["timeoutSeconds"] == 3
    assert webhook["reinvocationPolicy"] == "IfNeeded"
    assert webhook["sideEffects"] == "None"
    assert webhook["matchPolicy"] == "Equivalent"


def test_no_label_of_a_tenant_takes_a_pod_out(webhook: Document) -> None:
    """Only the name of the namespace excludes, which nobody can change."""
    assert "objectSelector" not in webhook
    (excluded,) = webhook["namespaceSelector"]["matchExpressions"]
    assert excluded["key"] == "kubernetes.io/metadata.name"
    assert (excluded["operator"], excluded["values"]) == ("NotIn", ["kube-system", "rdma-system"])


@pytest.fixture
def objects_webhook() -> Document:
    """The one webhook that judges our own kinds."""
    (found,) = _one("webhook.yaml", "ValidatingWebhookConfiguration")["webhooks"]
    return dict(found)


def test_the_condition_on_our_kinds_is_the_one_of_the_program(objects_webhook: Document) -> None:
    """As for pods."""
    assert objects_webhook["matchConditions"] == object_match_conditions()


def test_exactly_what_is_judged_is_registered(objects_webhook: Document) -> None:
    """No review comes in vain, and no check waits for one that never comes."""
    group, _, version = API_VERSION.partition("/")
    rules = objects_webhook["rules"]
    assert all((rule["apiGroups"], rule["apiVersions"]) == ([group], [version]) for rule in rules)
    asked = {(name, op) for rule in rules for name in rule["resources"] for op in rule["operations"]}
    assert asked == {(PLURALS[kind], operation) for kind, operation in CHECKS}


def test_an_outage_holds_no_object_of_ours_back(objects_webhook: Document) -> None:
    """Admins can repair things while nobody answers; what slips through is judged with the pods."""
    assert objects_webhook["failurePolicy"] == "Ignore"
    assert objects_webhook["timeoutSeconds"] == 3
    assert objects_webhook["sideEffects"] == "None"
    assert objects_webhook["matchPolicy"] == "Equivalent"
    assert {"namespaceSelector", "objectSelector"}.isdisjoint(objects_webhook)


def test_both_configurations_call_the_same_server(
    webhook: Document, objects_webhook: Document
) -> None:
    """They differ in the path alone."""
    service = dict(webhook["clientConfig"]["service"])
    assert service.pop("path") == "/mutate"
    assert objects_webhook["clientConfig"]["service"] == {**service, "path": "/validate"}


def test_the_configuration_comes_after_other_injectors() -> None:
    """The API server calls webhooks in order of their configurations' names."""
    name = _one("webhook.yaml", "MutatingWebhookConfiguration")["metadata"]["name"]
    assert name > "network-resources-injector-config"


def test_the_webhook_writes_what_its_leader_says_and_nothing_else() -> None:
    """Status, events and one Lease; everything else is read. The e2e tests compare with use."""
    writes = {
        (resource, verb)
        for kind in ("ClusterRole", "Role")
        for rule in _one("rbac.yaml", kind)["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if verb not in {"get", "list", "watch"}
    }
    assert writes == {
        ("rdmanetworks/status", "patch"),
        ("rdmapartitions/status", "patch"),
        ("rdmapolicies/status", "patch"),
        ("events", "create"),
        ("leases", "create"),
        ("leases", "update"),
    }


def test_the_account_is_the_one_that_admission_policies_name() -> None:
    """Who may write status is the account that the manifests make and the Deployment runs as."""
    account = _one("rbac.yaml", "ServiceAccount")["metadata"]
    assert account == {"name": OUR_ACCOUNT, "namespace": OUR_NAMESPACE}
    deployment = _one("deployment.yaml", "Deployment")
    assert deployment["metadata"]["namespace"] == OUR_NAMESPACE
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == OUR_ACCOUNT


def test_built_in_roles_may_read_our_kinds_and_write_none() -> None:
    """Whoever edits a namespace must not grant networks to it."""
    (role,) = _documents(BASE / "roles.yaml")
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    aggregate = "rbac.authorization.k8s.io/aggregate-to-"
    assert set(role["metadata"]["labels"]) == {aggregate + to for to in ("view", "edit", "admin")}


def test_the_pod_is_allowed_at_pod_security_restricted() -> None:
    """The namespace enforces the level that the pod is written for."""
    labels = _one("namespace.yaml", "Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    pod = _one("deployment.yaml", "Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_no_variable_of_a_service_is_taken_for_a_setting() -> None:
    """A Service called rdma-webhook would set RDMA_WEBHOOK_PORT in every pod beside it."""
    pod = _one("deployment.yaml", "Deployment")["spec"]["template"]["spec"]
    assert pod["enableServiceLinks"] is False


def test_image_and_version_agree() -> None:
    """The manifests of a version run that version."""
    pod = _one("deployment.yaml", "Deployment")["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == f"rdma-webhook:{VERSION}"


def test_service_deployment_and_budget_mean_the_same_pods() -> None:
    """One label joins them."""
    deployment = _one("deployment.yaml", "Deployment")["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels
    assert _one("service.yaml", "Service")["spec"]["selector"] == labels
    budget = _one("disruption.yaml", "PodDisruptionBudget")["spec"]
    assert budget["selector"]["matchLabels"] == labels
    assert budget["minAvailable"] < deployment["replicas"]
