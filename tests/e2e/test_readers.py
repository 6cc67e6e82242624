"""Our reading of network selections, held against Multus's own parser.

What we accept Multus accepts and reads alike, so what Multus refuses we refuse; we may refuse more,
and say why. What we write Multus reads as it was meant.
"""

import json
from random import Random

import pytest

from tests.harness.readers import Readers, Refused
from webhook.pods import selection
from webhook.pods.errors import InvalidSelection

NAMESPACE = "team-a"
OURS = (("rdma-ib-r0-p0011", NAMESPACE, "rdma0"), ("rdma-ib-r1-p0011", "fabric", "rdma1"))
ROUNDS = 4000
Place = tuple[str, str, str]

TABLE = [
    "",
    " ",
    "roce",
    "team-a/roce@net1, mv@net2",
    " team-a / roce @ net1 ",
    "a/b/c",
    "roce@a@b",
    "Roce-T210",
    "roce.t210",
    "roce@averyveryverylongif",
    "roce@exactly15chars0",
    "roce@exactly-15-char",
    "roce@ééééééééé",
    "roce@éééééé",
    "roce@a b",
    "roce@a/b",
    "roce,",
    ",roce",
    "/roce",
    "team-a/",
    "roce@",
    "@net1",
    "roce\x1f",
    "\x1croce@a\x1d",
    "\u2003roce\x85,\xa0mv",
    "roce\u200b",
    "a,a",
    "net1@net1",
    "[]",
    " [ ] ",
    "[[]]",
    "[null]",
    "[{}]",
    '["roce"]',
    '{"name":"roce"}',
    '"roce"',
    'roce,"x',
    '[{"name":"roce"}] trailing',
    '\ufeff[{"name":"roce"}]',
    '[{"name":"roce"},]',
    '[{"name":"roce.t210","namespace":"team-x","interface":"net1"}]',
    '[{"name":"roce","interface":"this-name-is-much-too-long"}]',
    '[{"name":"roce","interface":"eth0"}]',
    '[{"name":"a","interface":"net2"},{"name":"b"}]',
    '[{"name":"roce","interface":"net1"},{"name":"roce","interface":"net2"}]',
    '[{"name":"roce","namespace":null,"interface":null}]',
    '[{"name":"roce","namespace":"team-a","Namespace":"team-b"}]',
    '[{"NAME":"roce"}]',
    '[{"name":"roce","name":"mv"}]',
    '[{"name":"roce","interfaceRequest":"x"}]',
    '[{"name":"roce","interface":"y","interfaceRequest":"x"}]',
    '[{"name":5}]',
    '[{"name":"roce","namespace":[]}]',
    '[{"name":"roce","ips":["10.0.0.300"]}]',
    '[{"name":"roce","ips":["10.0.0.1","10.0.0.2/24","fe80::1/64","::ffff:10.0.0.1"]}]',
    '[{"name":"roce","ips":["10.0.0.01"]}]',
    '[{"name":"roce","ips":["10.0.0.1/024"]}]',
    '[{"name":"roce","ips":["10.0.0.1/255.255.255.0"]}]',
    '[{"name":"roce","ips":["fe80::1%eth0"]}]',
    '[{"name":"roce","ips":"10.0.0.1/24"}]',
    '[{"name":"roce","ips":[null]}]',
    '[{"name":"roce","ips":[]}]',
    '[{"name":"roce","mac":"02:00:00:00:00:01"}]',
    '[{"name":"roce","mac":"02-00-00-00-00-01"}]',
    '[{"name":"roce","mac":"0200.0000.0001"}]',
    '[{"name":"roce","mac":"020000000001"}]',
    '[{"name":"roce","mac":""}]',
    '[{"name":"roce","mac":null}]',
    '[{"name":"ib","infiniband-guid":"zz"}]',
    '[{"name":"ib","infiniband-guid":"02:00:00:00:00:00:00:11"}]',
    '[{"name":"ib","infiniband-guid":"02:00:00:00:00:11"}]',
    '[{"name":"ib","cni-args":{"mellanox.infiniband.app":"configured"}}]',
    '[{"name":"ib","cni-args":[]}]',
    '[{"name":"ib","cni-args":{"x":1e999}}]',
    '[{"name":"ib","cni-args":{"x":1e300}}]',
    '[{"name":"roce","deviceID":"0000:17:00.0"}]',
    '[{"name":"roce","deviceID":17}]',
    '[{"name":"roce","portMappings":[{"hostPort":80,"containerPort":-1,"protocol":"tcp"}]}]',
    '[{"name":"roce","portMappings":[{"hostPort":"80"}]}]',
    '[{"name":"roce","portMappings":[{"HOSTPORT":80.5}]}]',
    '[{"name":"roce","portMappings":[{"hostPort":1e2}]}]',
    '[{"name":"roce","portMappings":[{"hostPort":9223372036854775807}]}]',
    '[{"name":"roce","portMappings":[{"hostPort":9223372036854775808}]}]',
    '[{"name":"roce","portMappings":[{"hostIP":5}]}]',
    '[{"name":"roce","bandwidth":{"ingressRate":1,"egressBurst":null}}]',
    '[{"name":"roce","bandwidth":{"ingressrate":"1"}}]',
    '[{"name":"roce","bandwidth":[]}]',
    '[{"name":"roce","default-route":["10.0.0.1","fe80::1"]}]',
    '[{"name":"roce","default-route":["10.0.0.1/24"]}]',
    '[{"name":"roce","default-route":[""]}]',
    '[{"name":"roce","ipam-claim-reference":5}]',
    '[{"name":"roce","x-of-tomorrow":[{"a":[null]}]}]',
    '[{"name":"roce","x":NaN}]',
    '[{"name":"roce","x":Infinity}]',
    '[{"name":"roce","x":01}]',
    '[{"name":"roce","x":"\x01"}]',
    '[{"name":"roce","x":"\\ud800"}]',
    '[{"name":"roce","x":"\\u00e9\\uD83D\\uDE00"}]',
    '[{"name":"ro\\u0063e"}]',
    "[{'name':'roce'}]",
    '[{"name":"roce" /* no */}]',
    "[" * 3000 + "]" * 3000,
    '[{"name":"roce","x":' + "[" * 500 + "]" * 500 + "}]",
    '[{"name":"roce","x":' + "1" * 5000 + "}]",
]
"""One text for each rule of the grammar, and for each way in which JSON readers differ."""


def by_multus(readers: Readers, value: str) -> list[Place] | None:
    """Return what Multus selects, or None where it refuses."""
    found = readers.selection(NAMESPACE, value)
    if isinstance(found, Refused):
        return None
    return [(one["namespace"], one["name"], one.get("interface", "")) for one in found]


def by_us(value: str) -> list[Place] | None:
    """Return what we read, or None where we refuse."""
    try:
        elements = selection.parse(value)
    except InvalidSelection:
        return None
    return [(one.namespace or NAMESPACE, one.name, one.interface) for one in elements]


def disagreement(readers: Readers, value: str) -> str | None:
    """Return how our reading, or what we write, differs from Multus's; None where it does not."""
    ours = by_us(value)
    if ours is None:
        return None
    theirs = by_multus(readers, value)
    if theirs != ours:
        return f"{value!r}: we read {ours}, Multus {theirs}"
    written = selection.appended(value, OURS)
    added = [(namespace, name, interface) for name, namespace, interface in OURS]
    if by_multus(readers, written) != [*ours, *added]:
        return f"{value!r}: we wrote {written!r}, Multus reads {by_multus(readers, written)}"
    return None


@pytest.mark.parametrize("value", TABLE, ids=lambda value: value[:50] or "nothing")
def test_what_we_read_multus_reads_alike(readers: Readers, value: str) -> None:
    """Where we accept a text, Multus sees the same networks, before and after ours are added."""
    assert disagreement(readers, value) is None


@pytest.mark.parametrize("value", TABLE, ids=lambda value: value[:50] or "nothing")
def test_what_multus_refuses_we_refuse(readers: Readers, value: str) -> None:
    """No text that would fail the pod's sandbox is ever admitted."""
    if by_multus(readers, value) is None:
        assert by_us(value) is None


def test_most_of_what_multus_takes_we_take(readers: Readers) -> None:
    """We refuse more than Multus only where two readers differ or the kernel would refuse."""
    taken = [value for value in TABLE if by_multus(readers, value) is not None]
    refused = [value for value in taken if by_us(value) is None]
    assert len(taken) - len(refused) > 30
    assert "roce" not in refused
    assert '[{"name":"roce","x-of-tomorrow":[{"a":[null]}]}]' not in refused


class Writer:
    """Writes selections that are right, or nearly so; the same ones for one seed."""

    def __init__(self, seed: int) -> None:
        """Begin."""
        self._random = Random(seed)  # noqa: S311 no secret is made

    def text(self) -> str:
        """Return one annotation value."""
        value = self._comma_list() if self._random.random() < 0.4 else self._json_list()
        return self._damaged(value) if self._random.random() < 0.4 else value

    def _name(self) -> str:
        names = ("roce", "ib-p0011", "a", "0", "net1", "Roce", "roce.t210", "a_b", "-a", "", "é")
        weights = (9, 9, 9, 3, 3, 1, 1, 1, 1, 1, 1)
        return self._random.choices(names, weights)[0]

    def _interface(self) -> str:
        names = (
            "net1",
            "net2",
            "if0",
            "rdma7",
            "exactly-15-char",
            "eth0",
            "sixteen-letters!",
            "é" * 8,
        )
        return self._random.choices(names, (9, 9, 9, 9, 3, 1, 1, 1))[0]

    def _blank(self) -> str:
        return self._random.choices(
            ("", " ", "\t", "\n", "\x1f", "\x85", "\u3000"), (40, 9, 2, 2, 1, 1, 1)
        )[0]

    def _comma_list(self) -> str:
        items = []
        for _ in range(self._random.randint(1, 3)):
            parts = [self._name()]
            if self._random.random() < 0.4:
                parts = [self._name(), "/", *parts]
            if self._random.random() < 0.4:
                parts += ["@", self._interface()]
            items.append("".join(self._blank() + part for part in parts) + self._blank())
        return ",".join(items)

    def _json_list(self) -> str:
        elements = [self._element() for _ in range(self._random.randint(0, 3))]
        indent = self._random.choice((None, None, 1))
        return json.dumps(elements, indent=indent, ensure_ascii=self._random.random() < 0.5)

    def _element(self) -> object:
        element: dict[str, object] = {"name": self._name()}
        for key, values in _VALUES.items():
            if self._random.random() < 0.15:
                element[self._spelt(key)] = self._random.choice(values)
        if self._random.random() < 0.4:
            element["interface"] = self._interface()
        pairs = list(element.items())
        self._random.shuffle(pairs)
        return (
            dict(pairs) if self._random.random() < 0.98 else self._random.choice((None, 1, "x", []))
        )

    def _spelt(self, key: str) -> str:
        return (
            key if self._random.random() < 0.95 else self._random.choice((key.upper(), key.title()))
        )

    def _damaged(self, value: str) -> str:
        """Return a text with one character taken away, doubled, changed or added."""
        place = self._random.randint(0, len(value))
        new = self._random.choice('[]{}",:@/ 0a\\eé\x1f\n')
        kept = self._random.choice((value[place:], value[place + 1 :]))
        return value[:place] + new * self._random.randint(0, 2) + kept


_VALUES: dict[str, tuple[object, ...]] = {
    "namespace": ("team-a", "team-b", "", None, "a.b", 5),
    "interfaceRequest": ("net3", "", None),
    "ips": (
        ["10.0.0.1/24"],
        ["fe80::1"],
        ["10.0.0.300"],
        [],
        None,
        "10.0.0.1",
        [""],
        ["1.2.3.4/33"],
    ),
    "mac": ("02:00:00:00:00:01", "0200.0000.0001", "", None, "02:00", 2),
    "infiniband-guid": ("02:00:00:00:00:00:00:11", "02:00:00:00:00:11", "", None, "zz"),
    "portMappings": (
        [],
        None,
        [{"hostPort": 80}],
        [{"hostPort": "80"}],
        [{"containerPort": 1.5}],
        [None],
    ),
    "bandwidth": ({}, None, {"ingressRate": 1}, {"egressRate": "1"}, [], {"INGRESSBURST": 1.5}),
    "deviceID": ("0000:17:00.0", "", None, 17),
    "cni-args": ({}, None, {"guid": "x"}, {"vlan": 999, "deep": {"a": [1e300, None]}}, [], "x"),
    "default-route": (["10.0.0.1"], ["fe80::1"], [], None, ["10.0.0.1/24"], "10.0.0.1", [""]),
    "x-of-tomorrow": (1, None, {"name": "b"}, [[]], "é", 1e308, -0.0),
}


def test_generated_selections_are_read_alike(readers: Readers) -> None:
    """Thousands of right, odd and damaged texts find no difference between Multus and us."""
    writer = Writer(seed=1)
    texts = [writer.text() for _ in range(ROUNDS)]
    found = [problem for text in texts if (problem := disagreement(readers, text))]
    assert not found, "\n".join(found[:10])
    accepted = sum(by_us(text) is not None for text in texts)
    assert ROUNDS / 4 < accepted < ROUNDS, "the texts are to be right and wrong"
