"""The CRDs: structural, bounded, described, and with the rules at places that exist."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from policies.accept_template import RENDERED_KEYS
from policies.manifests.crd import VALIDATIONS, documents
from policies.manifests.kinds import KINDS
from policies.manifests.network_validations import network_rules
from policies.manifests.policy_validations import policy_rules
from policies.manifests.validations import partition_rules
from policies.names import API_VERSION

Schema = dict[str, Any]

CRDS = documents()
PRESERVE = "x-kubernetes-preserve-unknown-fields"
NETWORKS, PARTITIONS, POLICIES = CRDS.values()


def _version(crd: Schema) -> Schema:
    found: Schema = crd["spec"]["versions"][0]
    return found


def _root(crd: Schema) -> Schema:
    found: Schema = _version(crd)["schema"]["openAPIV3Schema"]
    return found


def _at(crd: Schema, path: str) -> Schema:
    node = _root(crd)
    for step in path.split("."):
        node = node["items"] if step == "[]" else node["properties"][step]
    return node


def _nodes(node: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """Every node below one, with its path."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from _nodes(child, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if keyword in node:
            yield from _nodes(node[keyword], f"{path}[]")


EVERY_NODE = [
    (f"{crd['spec']['names']['kind']}{path}", node)
    for crd in CRDS.values()
    for path, node in _nodes(_root(crd), "")
    if path != ".metadata"  # Kubernetes' own: a CRD may declare nothing of it but the name
]


def test_the_documents_are_named_as_kubernetes_wants() -> None:
    """A CRD is called plural.group, and its versions are ours."""
    assert list(CRDS) == ["rdmanetworks.rdma.io", "rdmapartitions.rdma.io", "rdmapolicies.rdma.io"]
    for name, crd in CRDS.items():
        names = crd["spec"]["names"]
        assert crd["metadata"]["name"] == name == f"{names['plural']}.{crd['spec']['group']}"
        assert f"{crd['spec']['group']}/{_version(crd)['name']}" == API_VERSION


@pytest.mark.parametrize(
    ("crd", "kind", "scope", "short"),
    [
        (NETWORKS, "RDMANetwork", "Cluster", "rdmanet"),
        (PARTITIONS, "RDMAPartition", "Cluster", "rdmapart"),
        (POLICIES, "RDMAPolicy", "Namespaced", "rdmapol"),
    ],
)
def test_a_kind_has_its_names_and_its_scope(crd: Schema, kind: str, scope: str, short: str) -> None:
    """Kubectl knows every kind by a short name and all of them by the category rdma."""
    names = crd["spec"]["names"]
    assert (names["kind"], names["listKind"]) == (kind, f"{kind}List")
    assert (names["shortNames"], names["categories"]) == ([short], ["rdma"])
    assert crd["spec"]["scope"] == scope
    assert _version(crd)["subresources"] == {"status": {}}


def test_every_column_has_a_path() -> None:
    """Columns show what the schema has, the age last."""
    for kind in KINDS:
        assert kind.columns[-1].name == "Age"
        for column in kind.columns[:-1]:
            first, field = column.path.lstrip(".").split(".")[:2]
            shown = _at(CRDS[f"{kind.plural}.rdma.io"], first)["properties"]
            assert field.partition("[")[0] in shown


@pytest.mark.parametrize(("path", "node"), EVERY_NODE, ids=lambda value: str(value)[:60])
def test_a_node_is_structural(path: str, node: Schema) -> None:
    """No keyword of JSON schema is left that a structural schema may not have."""
    assert not {"$ref", "$defs", "allOf", "oneOf", "const", "title", "nullable"} & set(node), path
    if "x-kubernetes-int-or-string" in node:
        assert "type" not in node
    else:
        assert node["type"] in {"object", "array", "string", "integer", "boolean"}
        assert "anyOf" not in node
    assert not {"properties", "additionalProperties"} <= set(node)
    assert not isinstance(node.get("default"), dict) or node["default"] == {}


@pytest.mark.parametrize(("path", "node"), EVERY_NODE, ids=lambda value: str(value)[:60])
def test_a_node_is_bounded_and_described(path: str, node: Schema) -> None:
    """Lists, maps and texts have a largest size, and ``kubectl explain`` says what each node is."""
    match node.get("type"):
        case "array":
            assert node["maxItems"] <= 64
            assert node["x-kubernetes-list-type"] in {"map", "set", "atomic"}
        case "string":
            assert "maxLength" in node or "enum" in node or "format" in node
        case "object" if "properties" not in node or node.get(PRESERVE):
            assert "maxProperties" in node
        case None:
            assert "maxLength" in node
    assert len(node["description"].split()) >= 2, path
    assert "\n" not in node["description"]


@pytest.mark.parametrize(("path", "node"), EVERY_NODE, ids=lambda value: str(value)[:60])
def test_a_field_says_its_default_or_that_it_is_needed(path: str, node: Schema) -> None:
    """Of every optional field of a spec the description says what its absence means."""
    for name, child in node.get("properties", {}).items() if ".spec" in path else ():
        text = child["description"]
        if name not in node.get("required", ()) and not text.startswith("Not allowed"):
            assert re.search("[Dd]efault|Absent", text), f"{path}.{name}: {text}"


@pytest.mark.parametrize(
    ("crd", "path", "key"),
    [
        (NETWORKS, "spec.rails", "name"),
        (NETWORKS, "spec.podDefaults.env", "name"),
        (NETWORKS, "status.conditions", "type"),
        (POLICIES, "spec.networks", "name"),
        (POLICIES, "spec.networks.[].partitions", "name"),
        (POLICIES, "spec.podDefaults.env", "name"),
        (POLICIES, "spec.podLimits.env", "name"),
        (POLICIES, "status.conditions", "type"),
    ],
)
def test_a_list_with_a_key_merges_by_it(crd: Schema, path: str, key: str) -> None:
    """Two field managers can each own an entry of these lists."""
    node = _at(crd, path)
    assert node["x-kubernetes-list-type"] == "map"
    assert node["x-kubernetes-list-map-keys"] == [key]
    assert key in node["items"]["required"]


@pytest.mark.parametrize(
    ("path", "default"),
    [
        ("spec.enforcement", "Warn"),
        ("spec.rawNetworks", "Deny"),
        ("spec.minimumIsolation", "None"),
        ("spec.podLimits", {}),
        ("spec.podLimits.capabilities", ["IPC_LOCK"]),
        ("spec.podLimits.hostNetwork", False),
        ("spec.podLimits.privileged", False),
        ("spec.podLimits.podSecurityConflict", "Deny"),
    ],
)
def test_the_defaults_of_a_policy_are_in_its_schema(path: str, default: object) -> None:
    """What the API server's own policies read is there although nobody wrote it."""
    assert _at(POLICIES, path)["default"] == default


def test_what_says_nothing_has_no_default() -> None:
    """Empty lists and absent values stay absent, so that nobody owns them."""
    with_default = {path for path, node in EVERY_NODE if "default" in node}
    assert {path for path in with_default if not path.startswith("RDMAPolicy.spec")} == set()
    assert "RDMAPolicy.spec.networks" not in with_default


def test_quantities_may_be_numbers() -> None:
    """``sharedMemory: 1073741824`` is a quantity, as it is in a pod."""
    for node in (
        _at(NETWORKS, "spec.podDefaults.sharedMemory"),
        _at(NETWORKS, "spec.podDefaults.hugepages")["additionalProperties"],
        _at(POLICIES, "spec.podLimits.sharedMemory.max"),
    ):
        assert node["anyOf"] == [{"type": "integer"}, {"type": "string"}]
        assert node["pattern"]
        assert node["minimum"] == 0


def test_count_is_a_number_or_all() -> None:
    """A count is bounded as a number and is one word as a text."""
    count = _at(NETWORKS, "spec.count")
    assert (count["minimum"], count["maximum"], count["pattern"]) == (1, 1024, "^All$")


def test_a_template_takes_any_key_but_knows_the_forbidden_ones() -> None:
    """The keys that mode, rail and partition render are declared, so that a rule can see them."""
    template = _at(NETWORKS, "spec.template")
    assert template["x-kubernetes-preserve-unknown-fields"] is True
    assert set(template["properties"]) == set(RENDERED_KEYS)


def test_every_rule_stands_where_it_says_and_has_a_message() -> None:
    """A rule is at its node, its message is one clause, and its field exists below the node."""
    for crd, rules in (
        (NETWORKS, network_rules()),
        (PARTITIONS, partition_rules()),
        (POLICIES, policy_rules()),
    ):
        for rule in rules:
            node = _at(crd, rule.at) if rule.at else _root(crd)
            assert rule.as_validation() in node[VALIDATIONS]
            assert rule.message
            assert not rule.message.endswith(".")
            for step in rule.field.split(".")[1:]:
                node = node["properties"][step]


def test_no_rule_formats_a_number() -> None:
    """``'%x'.format`` is over the API server's cost budget."""
    assert "format(" not in str(CRDS)
