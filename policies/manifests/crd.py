"""Our kinds as CustomResourceDefinition documents, made from the models that read them.

Shapes come from the models (``structural.py``), names and columns from ``kinds.py``, rules from the
``…validations.py``; how a document is written to a file is not known here.
"""

from typing import Any

from policies.accept_template import RENDERED_KEYS
from policies.manifests.kinds import KINDS, Kind
from policies.manifests.structural import Schema, described, structural
from policies.manifests.validations import ITEMS
from policies.names import API_VERSION, GROUP, NETWORK

CATEGORY = "rdma"
"""``kubectl get rdma`` lists all our kinds."""
VALIDATIONS = "x-kubernetes-validations"
_LONGEST_NAME = 253


def documents() -> dict[str, dict[str, Any]]:
    """Return every CRD by its name, in order of the names."""
    return {f"{kind.plural}.{GROUP}": _document(kind) for kind in KINDS}


def _document(kind: Kind) -> dict[str, Any]:
    version = {
        "name": API_VERSION.rpartition("/")[2],
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [column.as_document() for column in kind.columns],
        "schema": {"openAPIV3Schema": _schema(kind)},
    }
    names = {
        "kind": kind.name,
        "listKind": f"{kind.name}List",
        "plural": kind.plural,
        "singular": kind.name.lower(),
        "shortNames": [kind.short],
        "categories": [CATEGORY],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": kind.scope,
            "names": names,
            "conversion": {"strategy": "None"},
            "versions": [version],
        },
    }


def _schema(kind: Kind) -> Schema:
    """Return a kind's whole schema, with the rules at their places."""
    read = structural(kind.model)
    name: Schema = {
        "type": "string",
        "description": "Name of the object.",
        "maxLength": _LONGEST_NAME,
    }
    root: Schema = {
        "type": "object",
        "description": read["description"],
        "required": ["spec"],
        "properties": {
            "apiVersion": {
                "type": "string",
                "description": f"Version of the API: {API_VERSION}.",
                "maxLength": _LONGEST_NAME,
            },
            "kind": {
                "type": "string",
                "description": f"Kind of the object: {kind.name}.",
                "maxLength": _LONGEST_NAME,
            },
            # A rule can be about the name only where the name is declared.
            "metadata": {"type": "object", "properties": {"name": name}},
            "spec": read["properties"]["spec"],
            "status": described(
                structural(kind.status),
                "What is observed; written by the controller. Nothing is decided by it.",
            ),
        },
    }
    if kind.name == NETWORK:
        root["properties"]["spec"]["properties"]["template"]["properties"] = _forbidden_keys()
    for rule in kind.rules():
        _node_at(root, rule.at).setdefault(VALIDATIONS, []).append(rule.as_validation())
    return root


def _forbidden_keys() -> dict[str, Schema]:
    """Return the template's forbidden keys as properties, since a rule sees only what is declared.

    Numbers and texts are let in, so that the rule's message is seen and not a message on types.
    """
    description = "Not allowed: mode, rail and partition decide it."
    scalar: Schema = {"x-kubernetes-int-or-string": True, "maxLength": 4096}
    chain: Schema = {
        "type": "array",
        "maxItems": 64,
        "items": {
            "type": "object",
            "description": "A plugin of a chain.",
            "maxProperties": 64,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "x-kubernetes-list-type": "atomic",
    }
    return {
        key: {"description": description, **(chain if key == "plugins" else scalar)}
        for key in RENDERED_KEYS
    }


def _node_at(root: Schema, path: str) -> Schema:
    """Return the node of a schema at a path such as ``spec.rails.[]``."""
    node = root
    for step in path.split(".") if path else ():
        node = node["items"] if step == ITEMS else node["properties"][step]
    return node
