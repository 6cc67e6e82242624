"""The text of the status annotation."""

import json

from policies.intent import Attachment, Equipped, Intent
from policies.stamp import stamp


def _attachment(interface: str) -> Attachment:
    return Attachment("train", "r0", "team-a", "x", interface, selected=not interface)


def _equipped(index: int, **resources: int) -> Equipped:
    return Equipped(
        place=("containers", index),
        name=f"c{index}",
        resources=tuple(resources.items()),
        has_devices=True,
        env_by_file=False,
    )


def test_a_stamp_says_what_shaped_the_pod() -> None:
    """Networks, interfaces, resources of the whole pod, partition, generation and version."""
    wanted = Intent(
        networks=("train",),
        attachments=(_attachment("rdma0"), _attachment(""), _attachment("rdma1")),
        equipped=(_equipped(0, vf=2, hca=1), _equipped(1, hca=1)),
        partition="main",
        generation=7,
    )
    found = stamp(wanted, "1.2.3")
    assert found == (
        '{"networks":["train"],"interfaces":["rdma0","rdma1"],"resources":{"vf":2,"hca":2},'
        '"partition":"main","policyGeneration":7,"version":"1.2.3"}'
    )


def test_a_stamp_leaves_out_what_would_say_nothing() -> None:
    """A network without interface, resource or partition has three keys."""
    found = stamp(Intent(networks=("a", "b"), equipped=(_equipped(0),)), "v")
    assert json.loads(found) == {"networks": ["a", "b"], "policyGeneration": 0, "version": "v"}
