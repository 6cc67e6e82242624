"""A ValidatingAdmissionPolicy as a document, and values as CEL spells them."""

import pytest

from policies.manifests.vap import AdmissionPolicy, Check, literal, sentence

CHECK = Check(cel="true", says="'no'", reason="Forbidden")


def test_a_policy_comes_with_its_binding() -> None:
    """Both have one name, match our group in every version, and refuse."""
    policy, binding = AdmissionPolicy("short", ("things",), ("CREATE",), (CHECK,)).documents()
    assert policy["kind"] == "ValidatingAdmissionPolicy"
    assert binding["kind"] == "ValidatingAdmissionPolicyBinding"
    assert policy["metadata"] == binding["metadata"] == {"name": "short"}
    assert binding["spec"] == {"policyName": "short", "validationActions": ["Deny"]}
    assert policy["spec"] == {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "resourceRules": [
                {
                    "apiGroups": ["rdma.io"],
                    "apiVersions": ["*"],
                    "operations": ["CREATE"],
                    "resources": ["things"],
                }
            ],
        },
        "validations": [{"expression": "true", "messageExpression": "'no'", "reason": "Forbidden"}],
    }


def test_conditions_and_variables_keep_their_order() -> None:
    """A variable may read those before it."""
    policy, _ = AdmissionPolicy(
        "short",
        ("things",),
        ("CREATE",),
        (CHECK,),
        conditions={"z": "1 == 1"},
        variables={"b": "1", "a": "variables.b"},
    ).documents()
    assert policy["spec"]["matchConditions"] == [{"name": "z", "expression": "1 == 1"}]
    assert policy["spec"]["variables"] == [
        {"name": "b", "expression": "1"},
        {"name": "a", "expression": "variables.b"},
    ]


@pytest.mark.parametrize(
    ("value", "cel"),
    [
        (True, "true"),
        (False, "false"),
        (16, "16"),
        ("it's a \\", r"'it\'s a \\'"),
        (["a", 1], "[dyn('a'), dyn(1)]"),
        ({"a": {"b": []}, "c": "d"}, "{'a': dyn({'b': dyn([])}), 'c': dyn('d')}"),
        ({}, "{}"),
    ],
)
def test_a_value_is_spelled_in_cel(value: object, cel: str) -> None:
    """Values of one map may be of several types, which Kubernetes takes as ``dyn`` only."""
    assert literal(value) == cel


@pytest.mark.parametrize(
    ("text", "cel"),
    [
        ("plain", "'plain'"),
        ("<request.name>", "request.name"),
        ("user <a.b> isn't <c>", r"'user ' + a.b + ' isn\'t ' + c"),
    ],
)
def test_a_sentence_holds_what_cel_yields(text: str, cel: str) -> None:
    """Texts are literals, what stands in angle brackets is CEL."""
    assert sentence(text) == cel
