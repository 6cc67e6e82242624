"""Shapes that several of our kinds share."""

import pytest
from pydantic import ValidationError

from policies.shapes import Isolation, PodDefaults, Toleration


def test_isolation_has_an_order() -> None:
    """A minimum can be compared."""
    assert Isolation.NONE.strength < Isolation.SOFT.strength < Isolation.HARD.strength


def test_a_toleration_is_written_as_a_pod_has_it() -> None:
    """Only the keys that are set, spelled as Kubernetes does."""
    found = Toleration.model_validate({"key": "a", "operator": "Exists", "tolerationSeconds": 5})
    assert found.as_pod_field() == {"key": "a", "operator": "Exists", "tolerationSeconds": 5}
    assert Toleration().as_pod_field() == {}


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"capabilities": {"add": ["ipc_lock"]}}, id="a capability in lower case"),
        pytest.param({"sharedMemory": "-1Gi"}, id="a negative quantity"),
        pytest.param({"sharedMemory": "1Gi\n"}, id="a quantity with a line break"),
        pytest.param({"env": [{"name": "1A"}]}, id="a name that no shell has"),
        pytest.param({"env": [{"name": "A", "value": 1}]}, id="a value that is no text"),
        pytest.param({"tolerations": [{"operator": "Near"}]}, id="an operator that is none"),
        pytest.param({"capabilities": {"drop": ["ALL", "ALL"]}}, id="a capability twice"),
        pytest.param({"env": [{"name": "A"}, {"name": "A", "value": "x"}]}, id="a name twice"),
        pytest.param({"nodeSelector": {"a": "b c"}}, id="a value that no label has"),
        pytest.param({"tolerations": [{"key": "a b"}]}, id="a key that no taint has"),
        pytest.param({"hugepages": {f"hugepages-{n}": "1" for n in range(5)}}, id="too many"),
    ],
)
def test_what_a_pod_could_not_have_is_no_default(raw: object) -> None:
    """Bounds and patterns hold for files as they do in the CRD."""
    with pytest.raises(ValidationError):
        PodDefaults.model_validate(raw)
