"""How a ValidatingAdmissionPolicy is written down: CEL that the API server runs by itself.

Knows the shape of such a policy and of its binding, and how values are spelled in CEL; knows no
rule of ours. A policy holds while the webhook is down, since nobody is called.

Source: Kubernetes API ``admissionregistration.k8s.io/v1``, and the CEL language definition.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from policies.names import GROUP

API: Final = "admissionregistration.k8s.io/v1"
USER: Final = "request.userInfo.username"
"""CEL for who asks, as text."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to hold.

    Attributes:
        cel: True where the request may pass.
        says: CEL for the sentence that is said where it is not; it may not ask the authorizer.
        reason: ``Forbidden`` (403) for what others may do, ``Invalid`` (422) for what nobody may.
    """

    cel: str
    says: str
    reason: str

    def as_validation(self) -> dict[str, str]:
        """Return the check as it stands in the policy."""
        return {"expression": self.cel, "messageExpression": self.says, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """One policy, bound to the whole cluster; what it finds wrong is refused.

    Attributes:
        name: Name of policy and binding; short, since it stands in every message.
        resources: Resources of our group, with their subresource: ``rdmapolicies/status``.
        operations: ``CREATE``, ``UPDATE``, ``DELETE``.
        checks: What has to hold.
        conditions: CEL by name; where one is false, nothing is checked. The API server evaluates
            them first, so they are cheap.
        variables: CEL by name, in order: one may read those before it, as ``variables.NAME``. Each
            is evaluated at most once, and only where it is read.
    """

    name: str
    resources: tuple[str, ...]
    operations: tuple[str, ...]
    checks: tuple[Check, ...]
    conditions: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def documents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the policy and its binding as documents."""
        binding = {"policyName": self.name, "validationActions": ["Deny"]}
        return (
            self._document("ValidatingAdmissionPolicy", self._spec()),
            self._document("ValidatingAdmissionPolicyBinding", binding),
        )

    def _document(self, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
        return {"apiVersion": API, "kind": kind, "metadata": {"name": self.name}, "spec": spec}

    def _spec(self) -> dict[str, Any]:
        rule = {
            "apiGroups": [GROUP],
            "apiVersions": ["*"],
            "operations": list(self.operations),
            "resources": list(self.resources),
        }
        whole = {
            "failurePolicy": "Fail",
            "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [rule]},
            "matchConditions": _named(self.conditions),
            "variables": _named(self.variables),
            "validations": [check.as_validation() for check in self.checks],
        }
        return {key: value for key, value in whole.items() if value}


def literal(value: object) -> str:
    """Return a JSON value as CEL spells it.

    Values of maps and entries of lists are ``dyn``: Kubernetes wants those of one literal to be of
    one type.
    """
    match value:
        case bool():
            return str(value).lower()
        case dict():
            pairs = (f"{literal(key)}: dyn({literal(one)})" for key, one in value.items())
            return f"{{{', '.join(pairs)}}}"
        case list():
            return f"[{', '.join(f'dyn({literal(one)})' for one in value)}]"
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        case _:
            return str(value)


def sentence(text: str) -> str:
    """Return CEL for a text in which ``<…>`` stands for what CEL yields, itself a text.

    ``"user <request.userInfo.username> may not"`` is ``'user ' + request.userInfo.username + …``.
    """
    parts = re.split(r"<(.+?)>", text)
    spelled = (one if index % 2 else literal(one) for index, one in enumerate(parts) if one)
    return " + ".join(spelled)


def _named(expressions: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "expression": cel} for name, cel in expressions.items()]
