"""``podDefaults`` that no pod could be given."""

from policies.accept_defaults import problems
from policies.shapes import PodDefaults


def test_every_contradiction_is_said_with_its_path() -> None:
    """All of one object, in the order of its fields."""
    raw = {
        "capabilities": {"add": ["CAP_X", "A"], "drop": ["A", "CAP_Y"]},
        "hugepages": {"2Mi": "2Mi", "hugepages-2Mi": "3Mi", "hugepages-1Gi": "1Gi"},
        "nodeSelector": {"a/b/c": "x", "example.com/rdma": "x"},
        "tolerations": [
            {"key": "a", "operator": "Exists", "value": "x"},
            {"key": "", "operator": "Equal"},
            {"key": "a", "tolerationSeconds": 1},
            {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1},
        ],
    }
    assert list(problems(PodDefaults.model_validate(raw))) == [
        "spec.podDefaults.capabilities.add: CAP_X: write X, without CAP_",
        "spec.podDefaults.capabilities.drop: CAP_Y: write Y, without CAP_",
        "spec.podDefaults.capabilities: A is both added and dropped",
        "spec.podDefaults.hugepages.2Mi: want a page size such as hugepages-2Mi",
        "spec.podDefaults.hugepages.hugepages-2Mi: 3Mi is no multiple of the page size",
        "spec.podDefaults.nodeSelector: a/b/c is no key of a label: want [PREFIX/]NAME",
        (
            "spec.podDefaults.tolerations[0].value: operator Exists takes any value; write "
            "operator Equal, or no value"
        ),
        (
            "spec.podDefaults.tolerations[1].operator: without key a toleration is for every "
            "taint: want Exists"
        ),
        "spec.podDefaults.tolerations[2].tolerationSeconds: is for effect NoExecute only",
    ]
