"""Templates: free-form CNI keys that have to be renderable."""

from typing import Any

import pytest

from policies.accept_template import MAX_BYTES, MAX_DEPTH, problems
from policies.network import RDMANetwork
from policies.parse import parse
from tests.harness.cluster import network, rail

VLAN = {"type": "VLAN"}
PKEY = {"type": "PKey"}


def nested(levels: int) -> object:
    """A list in a list, so many times."""
    found: object = "x"
    for _ in range(levels):
        found = [found]
    return found


def said(template: dict[str, Any], **spec: Any) -> list[str]:  # noqa: ANN401 any field
    """What is wrong with a template."""
    raw = network("train", "SRIOVEthernet", rail("r0", "nvidia.com/vf"), template=template, **spec)
    return list(problems(parse(RDMANetwork, raw).spec))


@pytest.mark.parametrize(
    ("template", "spec"),
    [
        pytest.param({}, {}, id="empty"),
        pytest.param(
            {"mtu": 9000, "ipam": {"ranges": [[{"subnet": "10.0.0.0/8"}]]}}, {}, id="ipam"
        ),
        pytest.param({"a": "$(RAIL) $(NAMESPACE) $5 $$ (x)"}, {}, id="what every network has"),
        pytest.param({"a": {"b": ["x-$(VLAN)"]}}, {"partition": VLAN}, id="a VLAN"),
        pytest.param({"a": "$(PKEY)"}, {"partition": PKEY}, id="a PKey"),
        pytest.param({"a": nested(MAX_DEPTH - 2)}, {}, id="as deep as may be"),
        pytest.param({"a": "x" * (MAX_BYTES - len('{"a":""}'))}, {}, id="as long as may be"),
    ],
)
def test_what_can_be_rendered_is_accepted(template: dict[str, Any], spec: Any) -> None:  # noqa: ANN401
    """Keys of any CNI plugin, with the variables that the network has."""
    assert said(template, **spec) == []


@pytest.mark.parametrize(
    ("template", "spec", "sentence"),
    [
        pytest.param(
            {"Type": "x"}, {}, "spec.template.Type: spec.mode decides the CNI plugin", id="a key"
        ),
        pytest.param(
            {"ipam": {"pool": "$(NODE)"}},
            {},
            'spec.template: "$(NODE)" is no variable; there are $(VLAN) $(PKEY) $(RAIL) '
            "$(NAMESPACE)",
            id="another variable",
        ),
        pytest.param(
            {"a": ["$(vlan)"]},
            {"partition": VLAN},
            'spec.template: "$(vlan)" is no variable; there are $(VLAN) $(PKEY) $(RAIL) '
            "$(NAMESPACE)",
            id="another letter case",
        ),
        pytest.param(
            {"a": "$(VLAN)"},
            {},
            "spec.template: $(VLAN) needs spec.partition of type VLAN",
            id="a number that nobody has",
        ),
        pytest.param(
            {"a": "$(PKEY)"},
            {"partition": VLAN},
            "spec.template: $(PKEY) needs spec.partition of type PKey",
            id="a number of the other kind",
        ),
        pytest.param(
            {"a": "é" * (MAX_BYTES // 2)},
            {},
            "spec.template: is 16392 bytes as JSON, want at most 16384",
            id="too long in bytes",
        ),
        pytest.param(
            {"a": nested(10_000)},
            {},
            "spec.template: is nested deeper than 16 levels",
            id="too deep",
        ),
        pytest.param(
            {"a": {None: "x"}},
            {},
            "spec.template: holds what JSON cannot: want maps, lists, texts, numbers and booleans",
            id="no JSON",
        ),
    ],
)
def test_what_cannot_be_rendered_is_said_with_its_path(
    template: dict[str, Any],
    spec: Any,  # noqa: ANN401 any field
    sentence: str,
) -> None:
    """One sentence: the path, the problem, and what is wanted."""
    assert said(template, **spec) == [sentence]
