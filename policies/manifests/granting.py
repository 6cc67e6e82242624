"""Who may grant: CEL that asks for the verb ``grant`` on what an RDMAPolicy gives away.

A policy lives in the tenant's namespace, so write access there must not be enough. One question to
the authorizer costs 350,000 of the 1,000,000 that an expression may cost and of the 10,000,000 of a
whole policy: hence one expression for each network, and a list of names worked out before.

Source: apiserver ``pkg/cel/library/cost.go`` and ``pkg/apis/cel/config.go``.
"""

from collections.abc import Iterator
from typing import Any, Final

from policies.manifests.crd import documents
from policies.manifests.structural import defaults
from policies.manifests.vap import USER, AdmissionPolicy, Check, literal, sentence
from policies.names import GROUP, NETWORK, PLURALS, POLICY, POLICY_NAME
from policies.shapes import MAX_NETWORKS

NAME: Final = "rdma-grant"
VERB: Final = "grant"
NAMESPACE_CONTROLLER: Final = "system:serviceaccount:kube-system:namespace-controller"
"""Who empties a namespace that is deleted. The garbage collector is another account, and not let
through: whoever edits a policy could have it deleted by an ownerReference."""

_PLURAL: Final = PLURALS[NETWORK]
_AUTHORIZER: Final = f"authorizer.group('{GROUP}').resource('{_PLURAL}')"
_POLICY: Final = f"{POLICY} <request.namespace>/{POLICY_NAME}: "
_LACKING: Final = f", which user <{USER}> lacks; a platform admin can give it"


def granting() -> AdmissionPolicy:
    """Return the policy that guards every RDMAPolicy."""
    return AdmissionPolicy(
        name=NAME,
        resources=(PLURALS[POLICY],),
        operations=("CREATE", "UPDATE", "DELETE"),
        conditions={
            "spec-changes": "object == null || oldObject == null || object.spec != oldObject.spec",
            "namespace-stays": f"object != null || {USER} != '{NAMESPACE_CONTROLLER}'",
        },
        variables=_variables(),
        checks=(*_named_checks(), *_whole_checks()),
    )


def _variables() -> dict[str, str]:
    """Return what the checks read.

    Specs are ``dyn``, since their keys are compared as they come: a field that a later version adds
    is a change outside ``networks`` like any other.
    """
    return {
        "now": "object == null ? dyn({}) : dyn(object.spec)",
        "before": f"oldObject == null ? dyn({literal(_defaults())}) : dyn(oldObject.spec)",
        "held": "variables.before.?networks.orValue([])",
        "granted": "variables.now.?networks.orValue([])"
        ".filter(entry, !(entry in variables.held)).map(entry, entry.name)",
        "elsewhere": "variables.now.filter(key, key != 'networks' && "
        "!(key in variables.before && variables.before[key] == variables.now[key])) + "
        "variables.before.filter(key, key != 'networks' && !(key in variables.now))",
        "grantsAll": f"{_AUTHORIZER}.check('{VERB}').allowed()",
    }


def _defaults() -> dict[str, Any]:
    """Return the spec of a policy that says nothing, as the API server stores it."""
    (version,) = documents()[f"{PLURALS[POLICY]}.{GROUP}"]["spec"]["versions"]
    return defaults(version["schema"]["openAPIV3Schema"]["properties"]["spec"])


def _named_checks() -> Iterator[Check]:
    """Yield a check for each place in the list of networks that are new or changed."""
    for index in range(MAX_NETWORKS):
        name = f"variables.granted[{index}]"
        yield Check(
            cel=f"variables.granted.size() <= {index} || "
            f"{_AUTHORIZER}.name({name}).check('{VERB}').allowed()",
            says=sentence(
                f"{_POLICY}spec.networks[<{name}>]: granting it takes the verb {VERB} on "
                f"{_PLURAL}/<{name}>{_LACKING}"
            ),
            reason="Forbidden",
        )


def _whole_checks() -> Iterator[Check]:
    """Yield the checks of what only those may do who may grant every network."""
    yield _whole(
        "object == null || variables.elsewhere.size() == 0",
        "<variables.elsewhere.map(key, 'spec.' + key).join(', ')>: changing more than networks",
    )
    yield _whole("object != null", "deleting it")
    yield _whole(
        "oldObject != null || variables.granted.size() > 0",
        "spec.networks: the first policy decides for the namespace, so one that grants nothing",
    )
    yield _whole(
        f"variables.granted.size() <= {MAX_NETWORKS}",
        f"spec.networks: granting more than {MAX_NETWORKS} at once",
    )


def _whole(cel: str, what: str) -> Check:
    """Return a check that passes where the CEL is true, or for who may grant every network.

    Args:
        cel: True where no more is asked for.
        what: Field and deed, which is what the sentence begins with.
    """
    return Check(
        cel=f"{cel} || variables.grantsAll",
        says=sentence(f"{_POLICY}{what} takes the verb {VERB} on all {_PLURAL}{_LACKING}"),
        reason="Forbidden",
    )
