"""Who may grant: what the generated CEL is made of; tests/e2e says what it does."""

import re
from typing import Any

from policies.manifests.crd import documents
from policies.manifests.granting import NAMESPACE_CONTROLLER, granting
from policies.manifests.structural import defaults

POLICY = granting()
BUDGET_OF_AN_EXPRESSION = 1_000_000
BUDGET_OF_A_POLICY = 10_000_000
COST_OF_A_QUESTION = 350_000

SPEC: dict[str, Any] = documents()["rdmapolicies.rdma.io"]["spec"]["versions"][0]["schema"][
    "openAPIV3Schema"
]["properties"]["spec"]


def test_every_place_in_the_list_has_its_check() -> None:
    """As many checks by name as a policy can hold networks, and each asks once."""
    named = [check for check in POLICY.checks if ".name(variables.granted" in check.cel]
    assert len(named) == SPEC["properties"]["networks"]["maxItems"]
    for index, check in enumerate(named):
        assert check.cel.startswith(f"variables.granted.size() <= {index} || ")
        assert set(re.findall(r"granted\[(\d+)\]", check.cel + check.says)) == {str(index)}
        assert check.cel.count(".check('grant')") == 1


def test_the_questions_stay_within_the_budget() -> None:
    """No expression asks twice, and all together, with the one that is kept, fit in."""
    texts = [check.cel for check in POLICY.checks] + list(POLICY.variables.values())
    asked = [text.count(".check(") for text in texts]
    assert max(asked) * COST_OF_A_QUESTION <= BUDGET_OF_AN_EXPRESSION
    assert sum(asked) * COST_OF_A_QUESTION <= BUDGET_OF_A_POLICY


def test_no_message_asks_the_authorizer() -> None:
    """The API server gives it to conditions and expressions only."""
    for check in POLICY.checks:
        assert not re.search(r"authorizer|grantsAll", check.says)
        assert check.reason == "Forbidden"


def test_a_first_policy_is_compared_with_the_schemas_defaults() -> None:
    """They are those of the CRD, so that the two cannot drift."""
    found = defaults(SPEC)
    assert found == {
        "enforcement": "Warn",
        "rawNetworks": "Deny",
        "minimumIsolation": "None",
        "podLimits": {
            "capabilities": ["IPC_LOCK"],
            "hostNetwork": False,
            "privileged": False,
            "podSecurityConflict": "Deny",
        },
    }
    for key in found:
        assert f"'{key}': dyn(" in POLICY.variables["before"]


def test_no_field_outside_networks_is_named() -> None:
    """Keys are compared as they come, so a later field is guarded by this policy already."""
    outside = POLICY.variables["elsewhere"]
    assert set(re.findall(r"'(\w+)'", outside)) == {"networks"}


def test_one_account_is_let_through_and_for_deletion_only() -> None:
    """Who empties namespaces; on creation and update it is a user like any other."""
    condition = POLICY.conditions["namespace-stays"]
    assert condition == f"object != null || request.userInfo.username != '{NAMESPACE_CONTROLLER}'"
    assert "garbage" not in str(POLICY.documents())
    assert POLICY.operations == ("CREATE", "UPDATE", "DELETE")
