"""Custom resources from raw objects, with one sentence for what does not fit."""

from typing import Any

import pytest

from policies.errors import InvalidObject, PolicyError
from policies.network import RDMANetwork
from policies.parse import MOST_UNKNOWN, parse, texts, title, unknown_fields
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy
from policies.shapes import Shape
from tests.harness.cluster import network, policy, rail

Object = dict[str, Any]

CLAIM: Object = {
    "metadata": {"name": "leaf.vlan.0210"},
    "spec": {
        "fabric": "leaf",
        "type": "VLAN",
        "number": 210,
        "tenant": "namespace/team-a",
        "partition": "main",
    },
}


def test_fields_that_nobody_knows_yet_are_left_alone() -> None:
    """A later version may add fields; they do not make an object unreadable."""
    raw = network("train", "HostNetwork", rail("r0", "rdma/hca", later=1), later={"a": 1})
    found = parse(RDMANetwork, {**raw, "apiVersion": "rdma.io/v1alpha1", "later": []})
    assert found.spec.rails[0].resource_name == "rdma/hca"


def test_a_quantity_may_be_a_number() -> None:
    """Kubernetes lets a number stand for the text."""
    raw = network("train", "HostNetwork", rail("r0", "rdma/hca"), podDefaults={"sharedMemory": 8})
    assert parse(RDMANetwork, raw).spec.pod_defaults.shared_memory == "8"


@pytest.mark.parametrize(
    ("model", "raw", "sentence"),
    [
        pytest.param(
            RDMANetwork,
            network("train", "Carrier", rail("r0", "rdma/hca")),
            "RDMANetwork train: spec.mode: input should be 'Macvlan', 'IPVLAN', 'IPoIB', "
            "'SRIOVEthernet', 'SRIOVInfiniBand', 'HostDevice', 'HostNetwork', 'DeviceOnly' or "
            "'DRA': got \"Carrier\"",
            id="a mode that this version does not know",
        ),
        pytest.param(
            RDMANetwork,
            network("train", "DRA"),
            "RDMANetwork train: spec.rails: tuple should have at least 1 item after validation, "
            'not 0: got "[]"',
            id="no rail",
        ),
        pytest.param(
            RDMANetwork,
            {"metadata": {"name": "train"}},
            "RDMANetwork train: spec: field required",
            id="a field that is missing",
        ),
        pytest.param(
            RDMANetwork,
            {},
            "RDMANetwork: metadata: field required",
            id="an object without metadata",
        ),
        pytest.param(
            RDMAPolicy,
            policy({"name": "train", "maxPerPod": 0}),
            "RDMAPolicy team-a/default: spec.networks.0.maxPerPod: input should be greater than "
            'or equal to 1: got "0"',
            id="a number out of range",
        ),
        pytest.param(
            RDMAPolicy,
            policy(podLimits={"sharedMemory": {"max": True}}),
            "RDMAPolicy team-a/default: spec.podLimits.sharedMemory.max: input should be a valid "
            'string: got "True"',
            id="a boolean is no quantity",
        ),
        pytest.param(
            RDMAPartition,
            {**CLAIM, "spec": {**CLAIM["spec"], "number": "210"}},
            'RDMAPartition leaf.vlan.0210: spec.number: input should be a valid integer: got "210"',
            id="a number as text",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(
    model: type[Shape], raw: Object, sentence: str
) -> None:
    """Object, path, problem and value."""
    with pytest.raises(InvalidObject) as caught:
        parse(model, raw)
    assert str(caught.value) == sentence
    assert isinstance(caught.value, PolicyError)


def test_a_claim_is_read() -> None:
    """Who holds which number on which fabric."""
    spec = parse(RDMAPartition, CLAIM).spec
    assert (spec.fabric, spec.type, spec.number, spec.tenant) == (
        "leaf",
        "VLAN",
        210,
        "namespace/team-a",
    )


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"metadata": {"name": "a", "namespace": "b"}}, "RDMAPolicy b/a"),
        ({"metadata": {"name": "a", "namespace": ""}}, "RDMAPolicy a"),
        ({"metadata": "a"}, "RDMAPolicy"),
    ],
)
def test_an_object_is_named_by_what_it_has(raw: Object, said: str) -> None:
    """Kind, and of namespace and name what is there."""
    assert title("RDMAPolicy", raw) == said


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        pytest.param({"a": "1", "b": 2, 3: "c"}, {"a": "1"}, id="only texts"),
        pytest.param(None, {}, id="nothing"),
        pytest.param(["a"], {}, id="a list"),
        pytest.param("a", {}, id="a text"),
    ],
)
def test_labels_and_annotations_are_texts(found: object, kept: dict[str, str]) -> None:
    """A file may hold anything in their place."""
    assert texts(found) == kept


@pytest.mark.parametrize(
    ("model", "raw", "sentences"),
    [
        pytest.param(
            RDMAPolicy,
            policy(
                {"name": "train", "maxperpod": 1, "partitions": [{"names": "main"}]},
                enforcements="Enforce",
                podLimit={"hostNetwork": True},
                podLimits={"env": [{"name": "A", "valueFrom": {}}], "capabilities": ["SYS_TIME"]},
            ),
            tuple(
                f"RDMAPolicy team-a/default: spec.{path}: no such field, so it is ignored; "
                f"did you mean {near}?"
                for path, near in (
                    ("networks[train].maxperpod", "maxPerPod"),
                    ("networks[train].partitions[0].names", "name"),
                    ("enforcements", "enforcement"),
                    ("podLimit", "podLimits"),
                    ("podLimits.env[A].valueFrom", "value"),
                )
            ),
            id="a policy with mistakes at every depth",
        ),
        pytest.param(
            RDMANetwork,
            {"metadata": {"name": "train"}, "spec": {"rails": [{"name": "r0", "zone": 1, 5: 1}]}},
            tuple(
                f"RDMANetwork train: spec.rails[r0].{key}: no such field, so it is ignored; known "
                "here: name, resourceName, deviceClassName, master, altNames, hca, "
                "networkAttachment"
                for key in ("zone", "5")
            ),
            id="nothing is near",
        ),
        pytest.param(
            RDMANetwork,
            {"spec": {"host_interfaces": "PreCreated"}},
            (
                (
                    "RDMANetwork: spec.host_interfaces: no such field, so it is ignored; "
                    "did you mean hostInterfaces?"
                ),
            ),
            id="our own spelling is not the API's",
        ),
        pytest.param(
            RDMANetwork,
            {
                "apiVersion": "rdma.io/v1alpha1",
                "kind": "RDMANetwork",
                "metadata": {"name": "a", "managedFields": []},
                "status": {"later": 1},
                "spec": {
                    "rails": ["r0"],
                    "template": {"ipam": {"type": "whereabouts"}},
                    "podDefaults": {
                        "nodeSelector": {"a": "b"},
                        "hugepages": {"hugepages-2Mi": "1Gi"},
                        "tolerations": [{"tolerationSeconds": 1}],
                    },
                },
            },
            (),
            id="free maps, metadata and status are left alone",
        ),
        pytest.param(RDMANetwork, {"spec": [1]}, (), id="of another shape"),
    ],
)
def test_fields_that_nobody_knows_are_named(
    model: type[Shape], raw: Object, sentences: tuple[str, ...]
) -> None:
    """Path and the nearest field that there is, in the order of the object."""
    assert sorted(unknown_fields(model, raw)) == sorted(sentences)


def test_unknown_fields_are_named_within_bounds() -> None:
    """An object of nothing else does not fill the log, nor does a long key."""
    raw = {
        "metadata": {"name": "a"},
        "spec": {f"{number}\x1b{'x' * 9999}": 1 for number in range(99)},
    }
    found = unknown_fields(RDMANetwork, raw)
    assert len(found) == MOST_UNKNOWN
    assert all(one.isprintable() and len(one) < 400 for one in found)
