"""What the admission policies rest on: a growing CRD, the server's type checker, printed roles."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness import roles, tenants
from tests.harness.api import JSON_PATCH, MERGE_PATCH
from tests.harness.controlplane import ControlPlane
from tests.harness.guarded import (
    GRANTS_ALL,
    GRANTS_NAMED,
    NETWORKS,
    TENANT,
    WORKER,
    Guarded,
    entries,
    policies,
    policy,
)

Document = dict[str, Any]

DOCS = Path(__file__).parents[2] / "docs"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rdmapolicies.rdma.io"
SPEC = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
VAPS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
NAMES = ("rdma-grant", "rdma-status", "rdma-template")


@pytest.fixture
def later(guarded: Guarded) -> Iterator[str]:
    """A namespace where a policy can hold one more field and one more network than we know of."""
    cluster = guarded.cluster
    known = cluster.request("GET", CRD)["spec"]
    larger = [
        {"op": "add", "path": f"{SPEC}/later", "value": {"type": "string"}},
        {"op": "replace", "path": f"{SPEC}/networks/maxItems", "value": 17},
    ]
    cluster.request("PATCH", CRD, larger, content_type=JSON_PATCH)
    namespace = guarded.new_namespace()
    grown = {"networks": entries(*NETWORKS, "net-16"), "later": "x"}
    path = f"{policies(namespace)}?dryRun=All"

    def is_grown() -> bool:
        status, answer = cluster.api("POST", path, policy(grown))
        return status == 201 and "later" in answer["spec"]

    cluster.wait_for("the larger kind is served", is_grown)
    yield namespace
    cluster.request("PATCH", CRD, {"spec": known}, content_type=MERGE_PATCH)


def test_a_field_of_a_later_version_takes_a_grant_of_all(guarded: Guarded, later: str) -> None:
    """Brought, added, changed or taken away: what we do not know is outside networks."""
    first = policy({"networks": entries(NETWORKS[0]), "later": "x"})
    answer = guarded.cluster.api("POST", policies(later), first, user=GRANTS_NAMED)
    assert _says_later(answer)
    guarded.create(later, {"networks": entries(NETWORKS[0])})
    for value in ("x", "y", None):
        for user in (GRANTS_NAMED, TENANT):
            assert _says_later(_set_later(guarded, later, value, user))
        assert _set_later(guarded, later, value, GRANTS_ALL)[0] == 200


def _set_later(guarded: Guarded, namespace: str, value: str | None, user: str) -> tuple[int, Any]:
    """Status code and answer of a user who sets the new field, or takes it away."""
    path = tenants.policy_path(namespace)
    body = {"spec": {"later": value}}
    return guarded.cluster.api("PATCH", path, body, user=user, content_type=MERGE_PATCH)


def _says_later(answer: tuple[int, Any]) -> bool:
    status, body = answer
    return status == 403 and "spec.later: changing more than networks takes" in body["message"]


def test_a_list_that_grew_is_no_way_round(guarded: Guarded, later: str) -> None:
    """The seventeenth entry is not checked by name, so it takes a grant of all."""
    for names, user, expected in (
        (NETWORKS, GRANTS_NAMED, 201),
        ((*NETWORKS, "net-16"), GRANTS_NAMED, 403),
        ((*NETWORKS, "net-16"), GRANTS_ALL, 201),
    ):
        status, answer = guarded.cluster.api(
            "POST",
            f"{policies(later)}?dryRun=All",
            policy({"networks": entries(*names)}),
            user=user,
        )
        assert status == expected, answer
        if expected == 403:
            assert "spec.networks: granting more than 16 at once takes" in answer["message"]


@pytest.mark.parametrize("name", NAMES)
def test_the_api_server_finds_no_mistake_of_type(guarded: Guarded, name: str) -> None:
    """Its type checker has no warning for our CEL, and has one where a field is misspelt.

    It checks no policy that matches every version or a subresource, so it gets a copy that names
    version and resource.
    """
    cluster = guarded.cluster
    shipped = cluster.request("GET", f"{VAPS}/{name}")["spec"]
    (rule,) = shipped["matchConstraints"]["resourceRules"]
    rule |= {
        "apiVersions": ["v1alpha1"],
        "resources": [one.partition("/")[0] for one in rule["resources"]],
    }
    wrong = copy.deepcopy(shipped)
    wrong["validations"].append({"expression": "object.spec.misspelt == 1"})
    warnings = [_warnings(cluster, wrong), _warnings(cluster, shipped)]
    assert "undefined field 'misspelt'" in str(warnings[0])
    assert warnings[1] == []


def _warnings(cluster: ControlPlane, spec: Document) -> list[Document]:
    """What the type checker of the controller manager says of a policy that nothing binds."""
    path = f"{VAPS}/checked"
    cluster.request("POST", VAPS, {"metadata": {"name": "checked"}, "spec": spec})
    try:
        status = cluster.wait_for("types are checked", lambda: _checked(cluster, path))
    finally:
        cluster.request("DELETE", path)
    found: list[Document] = status["typeChecking"].get("expressionWarnings", [])
    return found


def _checked(cluster: ControlPlane, path: str) -> Document | None:
    status: Document = cluster.request("GET", path).get("status", {})
    return status if "typeChecking" in status else None


def test_the_roles_of_the_documentation_do_what_it_says(guarded: Guarded) -> None:
    """Applied as printed, they let a person grant one network in one namespace, and no more."""
    cluster = guarded.cluster
    text = (DOCS / "networks-and-policies.md").read_text()
    section = text.partition("## Who may grant")[2].partition("\n## ")[0]
    printed = "---\n".join(re.findall(r"```yaml\n(.*?)```", section, re.DOTALL))
    assert printed.count("name: carol") == 2
    cluster.add_namespace("team-a")
    cluster.apply(printed.replace("name: carol", f"name: {WORKER}"))
    grant = {"verb": "grant", "group": "rdma.io", "resource": "rdmanetworks"}
    cluster.wait_for(
        "roce may be granted", lambda: roles.may(cluster, WORKER, name="roce", **grant)
    )
    for network, answer in (("roce", "yes"), ("train-ib", "no")):
        asked = ("auth", "can-i", "grant", f"rdmanetworks.rdma.io/{network}")
        assert cluster.kubectl(*asked, user=WORKER, check=False).stdout == f"{answer}\n"
    assert not roles.may(cluster, WORKER, **grant)
    for names, expected in ((["roce"], 201), (["roce", "train-ib"], 403)):
        body = policy({"networks": entries(*names)})
        path = f"{policies('team-a')}?dryRun=All"
        assert cluster.api("POST", path, body, user=WORKER)[0] == expected
    assert cluster.api("POST", policies("default"), policy({}), user=WORKER)[0] == 403
