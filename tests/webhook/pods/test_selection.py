"""Network selection annotations: read as Multus reads them, and appended to."""

import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.harness.pod_strategies import BUDGET
from webhook.pods import selection
from webhook.pods.errors import InvalidSelection
from webhook.pods.selection import Element

OURS = (("rdma-ib-r0-p0011", "team-a", "rdma0"), ("rdma-ib-r1-p0011", "team-a", "rdma1"))
PRINTED = (
    '{"name":"rdma-ib-r0-p0011","namespace":"team-a","interface":"rdma0"},'
    '{"name":"rdma-ib-r1-p0011","namespace":"team-a","interface":"rdma1"}'
)


def places(value: str) -> list[tuple[str, str, str]]:
    """Return namespace, name and interface of each element."""
    return [(one.namespace, one.name, one.interface) for one in selection.parse(value)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("", [], id="an empty annotation selects nothing"),
        pytest.param("roce", [("", "roce", "")], id="a bare name"),
        pytest.param(
            "team-a/roce@net1, mv@net2",
            [("team-a", "roce", "net1"), ("", "mv", "net2")],
            id="namespaces and interfaces",
        ),
        pytest.param(
            " team-a / roce @ net1 ", [("team-a", "roce", "net1")], id="white space around parts"
        ),
        pytest.param("\u2003roce\x85", [("", "roce", "")], id="white space as Go sees it"),
        pytest.param("roce,roce", [("", "roce", "")] * 2, id="the same network twice"),
        pytest.param(
            '[{"name":"roce.a","namespace":"x","interface":"net1"}]',
            [("x", "roce.a", "net1")],
            id="a dotted name in JSON",
        ),
        pytest.param(
            '[{"name":"roce","interface":"net1"},{"name":"roce","interface":"net2"}]',
            [("", "roce", "net1"), ("", "roce", "net2")],
            id="the same network twice in JSON",
        ),
        pytest.param(
            '[{"name":"a","namespace":null,"interface":null}]', [("", "a", "")], id="null is absent"
        ),
        pytest.param('[{"name":"a","ips":null}]', [("", "a", "")], id="a null list is absent"),
        pytest.param(
            '[{"name":"a","interfaceRequest":"x"}]', [("", "a", "x")], id="the key of old Multus"
        ),
        pytest.param(
            '[{"name":"a","interface":"y","interfaceRequest":"x"}]',
            [("", "a", "y")],
            id="the new key goes before the old one",
        ),
        pytest.param(" [] ", [], id="an empty list selects nothing"),
        pytest.param(
            '[{"name":"a","default-route":["10.0.0.1"]},{"name":"b","default-route":["fe80::1"]}]',
            [("", "a", ""), ("", "b", "")],
            id="a default route of each family",
        ),
    ],
)
def test_what_multus_takes_is_read(value: str, expected: list[tuple[str, str, str]]) -> None:
    """Both spellings give the elements that Multus sees, in order."""
    assert places(value) == expected


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param("a/b/c", "is not [namespace/]name[@interface]", id="two slashes"),
        pytest.param("roce@a@b", "is not [namespace/]name", id="two signs"),
        pytest.param("Roce-T210", "is not [namespace/]name", id="upper case in the comma form"),
        pytest.param("roce.t210", "needs the JSON form", id="a dot in the comma form"),
        pytest.param("roce@averyveryverylongif", "at most 15", id="a long interface"),
        pytest.param("roce@ééééééééé", "at most 15", id="an interface of many bytes"),
        pytest.param("roce@a b", "is no interface name", id="white space in an interface"),
        pytest.param("roce@a:b", "is no interface name", id="a colon in an interface"),
        pytest.param("roce@..", "is no interface name", id="an interface of two dots"),
        pytest.param("roce,", "item 2 is empty", id="an item is empty"),
        pytest.param(" ", "item 1 is empty", id="the annotation is blank"),
        pytest.param("/roce", "is not [namespace/]name", id="an empty namespace"),
        pytest.param("team-a/", "is not [namespace/]name", id="an empty name"),
        pytest.param("roce@", "names no interface after @", id="an empty interface"),
        pytest.param("roce\x1f", "is not [namespace/]name", id="white space of Python alone"),
        pytest.param("roce@lo", "is the pod's own interface", id="the loopback interface"),
        pytest.param('{"name":"roce"}', "is JSON but not a list", id="an object, no list"),
        pytest.param('"roce"', "is JSON but not a list", id="a text, no list"),
        pytest.param('roce,"x', "not valid JSON", id="a quote makes it JSON"),
        pytest.param('[{"name":"roce"}] trailing', "not valid JSON", id="text after the list"),
        pytest.param("[null]", "element 1 is not an object", id="an element is null"),
        pytest.param('["roce"]', "element 1 is not an object", id="an element is text"),
        pytest.param("[{}]", "element 1 has no name", id="an element has no name"),
        pytest.param('[{"name":null}]', "element 1 has no name", id="a name is null"),
        pytest.param(
            '[{"name":5}]', "element 1 has a name that is no text", id="a name is a number"
        ),
        pytest.param(
            '[{"name":"a","namespace":[]}]',
            "a namespace that is no text",
            id="a namespace is a list",
        ),
        pytest.param(
            '[{"name":"a/b"}]',
            'write {"name":"b","namespace":"a"}',
            id="a name with a namespace in it",
        ),
        pytest.param('[{"name":"a_b"}]', "is no object name", id="a name that no object has"),
        pytest.param(
            '[{"name":"a","namespace":"a.b"}]', "is no object name", id="a namespace with a dot"
        ),
        pytest.param(
            '[{"name":"roce","interface":"this-name-is-too-long"}]',
            "at most 15",
            id="long, in JSON",
        ),
        pytest.param('[{"name":"roce","interface":"eth0"}]', "own interface", id="the pod's eth0"),
        pytest.param(
            '[{"name":"a","interface":"net2"},{"name":"b"}]',
            "a and b both get interface net2",
            id="an interface that Multus hands out",
        ),
        pytest.param("a@x,b@x", "a and b both get interface x", id="an interface twice"),
        pytest.param(
            '[{"name":"a","ips":["10.0.0.300"]}]', "a value of ips that Multus refuses", id="bad ip"
        ),
        pytest.param(
            '[{"name":"a","ips":"10.0.0.1"}]', "a value of ips that Multus refuses", id="no list"
        ),
        pytest.param('[{"name":"a","infiniband-guid":"zz"}]', "infiniband-guid", id="bad GUID"),
        pytest.param(
            '[{"name":"a","infiniband-guid":"02:00:00:00:00:11"}]',
            "infiniband-guid",
            id="a short GUID",
        ),
        pytest.param(
            '[{"name":"a","default-route":["10.0.0.1"]},{"name":"b","default-route":["10.1.0.1"]}]',
            "Multus allows one a family",
            id="two default routes of one family",
        ),
        pytest.param(
            '[{"name":"a","default-route":["10.0.0.1","::ffff:10.1.0.1"]}]',
            "Multus allows one a family",
            id="two default routes of IPv4 in two spellings",
        ),
        pytest.param('[{"NAME":"roce"}]', "in that letter case", id="a key in another letter case"),
        pytest.param(
            '[{"name":"a","namespace":"team-a","Namespace":"team-b"}]',
            "occurs twice",
            id="a key in two letter cases",
        ),
        pytest.param('[{"name":"a","name":"b"}]', "occurs twice", id="a key twice"),
        pytest.param('[{"name":"a","x":NaN}]', "NaN is not JSON", id="a number of Python alone"),
        pytest.param('[{"name":"a","cni-args":{"x":1e999}}]', "out of range", id="a huge number"),
        pytest.param('[{"name":"a","x":' + "1" * 5000 + "}]", "out of range", id="a long number"),
        pytest.param("[" * 100_000, "too deep", id="nested without end"),
        pytest.param("a\x00\n" * 50, "�", id="what cannot be printed"),
    ],
)
def test_what_multus_refuses_or_could_read_otherwise_is_refused(value: str, why: str) -> None:
    """The message says which element and what is wrong with it, and can be printed."""
    with pytest.raises(InvalidSelection) as caught:
        selection.parse(value)
    assert why in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        pytest.param(
            '{"name":"a","cni-args":{"vlan":999}}', ("cni-args",), id="a VLAN as decoration"
        ),
        pytest.param(
            '{"cni-args":{"mellanox.infiniband.app":"configured"},"name":"a","mac":""}',
            ("cni-args", "mac"),
            id="the mark of the fabric's daemon",
        ),
        pytest.param('{"name":"a","deviceID":"0000:17:00.0"}', ("deviceID",), id="a device"),
        pytest.param(
            '{"name":"a","x-of-tomorrow":null}', ("x-of-tomorrow",), id="a key of tomorrow"
        ),
        pytest.param('{"interface":"i","name":"a","namespace":"n"}', (), id="no further keys"),
        pytest.param('{"name":"a","interfaceRequest":"i"}', (), id="the key of old Multus"),
    ],
)
def test_further_keys_are_told(value: str, keys: tuple[str, ...]) -> None:
    """Who judges selections learns every key beyond name, namespace and interface, in order."""
    (element,) = selection.parse(f"[{value}]")
    assert element.extra_keys == keys


def test_an_element_keeps_its_default_routes() -> None:
    """The routes of an element are read in order."""
    (element,) = selection.parse('[{"name":"a","default-route":["10.0.0.1","fe80::1"]}]')
    assert element == Element("a", "", "", ("default-route",), ("10.0.0.1", "fe80::1"))


@pytest.mark.parametrize(
    ("value", "json"),
    [("a", False), ("a/b@c, d", False), ("[]", True), ("{", True), ('a"', True), ("", False)],
)
def test_what_counts_as_json(value: str, *, json: bool) -> None:
    """One bracket, brace or double quote anywhere makes Multus parse JSON."""
    assert selection.is_json(value) is json


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("", f"[{PRINTED}]", id="to nothing"),
        pytest.param(" [ ] ", f"[{PRINTED}]", id="to an empty list"),
        pytest.param(
            "team-b/storage@net7, mv",
            '[{"name":"storage","namespace":"team-b","interface":"net7"},{"name":"mv"},'
            + PRINTED
            + "]",
            id="to a comma list, which becomes JSON",
        ),
        pytest.param(
            '\n[ {"name": "s" , "x":[1,  2], "y": "é\\u00e9"} ]\t',
            '[{"name": "s" , "x":[1,  2], "y": "é\\u00e9"},' + PRINTED + "]",
            id="to JSON, which stays as it was written",
        ),
    ],
)
def test_elements_are_appended(value: str, expected: str) -> None:
    """The user's elements come first, with every key of theirs; the result is always JSON."""
    assert selection.appended(value, OURS) == expected


def test_nothing_is_appended() -> None:
    """Without new elements a list is only written as JSON."""
    assert selection.appended("a", ()) == '[{"name":"a"}]'
    assert selection.appended('[{"name":"a"}]', ()) == '[{"name":"a"}]'
    assert selection.appended("", ()) == "[]"


LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,6}[a-z0-9])?", fullmatch=True)
INTERFACES = st.from_regex(r"if[a-z0-9]{1,6}", fullmatch=True)
ITEMS = st.builds(
    "{}{}{}".format,
    st.just("") | LABELS.map(lambda name: f"{name}/") | st.just("team-a / "),
    LABELS,
    st.just("") | INTERFACES.map(lambda name: f"@{name}"),
)
COMMA_LISTS = st.lists(ITEMS, min_size=1, max_size=4).map(", ".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(LABELS, inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.fixed_dictionaries(
    {"name": LABELS},
    optional={
        "namespace": LABELS,
        "interface": INTERFACES,
        "cni-args": st.dictionaries(LABELS, VALUES, max_size=2),
        "x-of-tomorrow": VALUES,
    },
)
JSON_LISTS = st.builds(
    lambda elements, indent, ascii_only: json.dumps(
        elements, indent=indent, ensure_ascii=ascii_only
    ),
    st.lists(OBJECTS, max_size=3),
    st.sampled_from((None, 1)),
    st.booleans(),
)
ROUGH = st.text('[]{}":,/@ \t\x1f\x85n\\u0é' + "abe1-.", max_size=40)


def parsed(value: str) -> tuple[Element, ...]:
    """Return the elements of a text; a text that is refused is no example."""
    try:
        return selection.parse(value)
    except InvalidSelection:
        assume(condition=False)
        raise


@BUDGET
@given(st.text() | ROUGH | ROUGH.map(lambda text: f'[{{"name":"a","x":{text}}}]') | COMMA_LISTS)
@example("[" * 2000 + "]" * 2000)
def test_any_text_is_read_or_refused(value: str) -> None:
    """Whatever an author writes, no other error than ours comes out."""
    try:
        elements = selection.parse(value)
    except InvalidSelection as err:
        assert str(err).isprintable()  # noqa: PT017 both ways are right
    else:
        assert all(one.name for one in elements)


@BUDGET
@given(COMMA_LISTS | JSON_LISTS)
def test_old_and_new_elements_are_read_back(value: str) -> None:
    """What is appended to is read as before, with ours behind it."""
    before = parsed(value)
    after = selection.parse(selection.appended(value, OURS))
    assert after[: len(before)] == before
    assert [(one.name, one.namespace, one.interface) for one in after[len(before) :]] == list(OURS)


@BUDGET
@given(JSON_LISTS)
def test_json_of_the_author_stays_byte_for_byte(value: str) -> None:
    """Not a blank inside the author's own list is changed."""
    parsed(value)
    inner = value.strip()[1:-1].strip()
    assert selection.appended(value, OURS).startswith(f"[{inner}")


@BUDGET
@given(COMMA_LISTS)
def test_a_comma_list_becomes_json_of_the_same_meaning(value: str) -> None:
    """Both spellings of one selection give equal elements."""
    before = parsed(value)
    written: Any = json.loads(selection.appended(value, ()))
    assert all(set(one) <= {"name", "namespace", "interface"} for one in written)
    assert selection.parse(json.dumps(written)) == before
