"""What a network's template may not hold: CEL that reads keys as CNI plugins do.

The CRD refuses these keys as CNI spells them. In another letter case they pass any schema, and Go's
JSON decoder takes them all the same.

Source: Go's encoding/json ``fold.go``: ASCII letters fold, and the long s and the Kelvin sign too.
"""

from typing import Final

from policies.accept import RENDERED_KEYS
from policies.manifests.vap import AdmissionPolicy, Check, literal, sentence
from policies.names import NETWORK, PLURALS

NAME: Final = "rdma-template"

_FOLDED: Final = r"key.lowerAscii().replace('\u017f', 's').replace('\u212a', 'k')"


def templates() -> AdmissionPolicy:
    """Return the policy that guards the template of every RDMANetwork."""
    reasons = {key.lower(): why for key, why in RENDERED_KEYS.items()}
    return AdmissionPolicy(
        name=NAME,
        resources=(PLURALS[NETWORK],),
        operations=("CREATE", "UPDATE"),
        conditions={
            "template-changes": "oldObject == null || "
            "object.spec.?template != oldObject.spec.?template",
        },
        variables={
            "reasons": literal(reasons),
            "rendered": "dyn(object.spec).?template.orValue({})"
            f".filter(key, {_FOLDED} in variables.reasons)",
        },
        checks=(
            Check(
                cel="variables.rendered.size() == 0",
                says=sentence(
                    f"{NETWORK} <object.metadata.name>: <variables.rendered.map(key, "
                    f"'spec.template.' + key + ': ' + variables.reasons[{_FOLDED}]).join(', ')>; "
                    "a template holds no such key in any letter case"
                ),
                reason="Invalid",
            ),
        ),
    )
