"""Text to objects, as kubectl reads it."""

import pytest

from webhook.watch.documents import parse
from webhook.watch.errors import UnreadableFile

HEAD = "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\n"


def test_every_document_is_an_object_with_its_place() -> None:
    """Blank documents are skipped, and the rest say where they begin."""
    found = parse(f"---\n{HEAD}---\n# nothing\n---\n{HEAD}")
    assert [one.place for one in found] == ["document 1, line 2", "document 3, line 8"]


@pytest.mark.parametrize("kind", ["List", "ThingList"])
def test_lists_are_taken_apart(kind: str) -> None:
    """``kind: List``, as kubectl get prints it, is its items."""
    text = f"""
apiVersion: v1
kind: {kind}
items:
- {{apiVersion: v1, kind: Thing, metadata: {{name: a}}}}
- {{apiVersion: v1, kind: Thing, metadata: {{name: b}}}}
"""
    assert [one.object["metadata"]["name"] for one in parse(text)] == ["a", "b"]


def test_json_is_read_as_json() -> None:
    """A JSON file holds one object or list."""
    text = '{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}'
    assert parse(text, is_json=True)[0].object["kind"] == "Thing"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0x11", 17),
        ("0100", 64),
        ("0o17", 15),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("2024-01-01", "2024-01-01"),
        ("1:30", "1:30"),
        ("00:11:22:33:44:55", "00:11:22:33:44:55"),
        ("yes", True),
        ("~", None),
        ("1.2.3.4", "1.2.3.4"),
    ],
)
def test_scalars_mean_what_they_mean_to_kubectl(written: str, value: object) -> None:
    """No dates, no base-60 numbers; hexadecimal and octal are numbers."""
    found = parse(f"{HEAD}value: {written}\n")[0].object["value"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{HEAD}---\n{HEAD}  bad: [\n", "document 2, line 8: not YAML"),
        (f"{HEAD}kind: Other\n", "document 1, line 4: not YAML: key 'kind' is there twice"),
        (f"{HEAD}---\n- 1\n", "document 2, line 5: got a list, want a Kubernetes object"),
        ("kind: Thing\nmetadata: {name: a}\n", "apiVersion: got None, want a text"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "kind: got None, want a text"),
        ("apiVersion: v1\nkind: Thing\nmetadata: {name: 7}\n", "metadata.name: got 7"),
        ("apiVersion: v1\nkind: Thing\n", "Thing: metadata.name: got None"),
        ("apiVersion: v1\nkind: List\nitems: [7]\n", "items[0]: got a int"),
        ("a: !!python/object:os.system {}\n", "not YAML"),
        ("a: \x00\n", "not YAML"),
        ("*nobody\n", "not YAML"),
    ],
)
def test_what_is_no_object_is_one_sentence_with_its_place(text: str, sentence: str) -> None:
    """Document, line and problem, so that the author finds it."""
    with pytest.raises(UnreadableFile) as found:
        parse(text)
    assert sentence in str(found.value)
    assert "\n" not in str(found.value)


def test_broken_json_names_the_line() -> None:
    """A JSON file's error says where it is."""
    with pytest.raises(UnreadableFile, match="line 2: not JSON"):
        parse('{"a": 1,\n]', is_json=True)


def test_nesting_without_end_is_refused() -> None:
    """A hostile file does not end the process."""
    with pytest.raises(UnreadableFile):
        parse("[" * 100_000, is_json=True)


@pytest.mark.parametrize("written", ["5", "true", "[a]"])
def test_a_namespace_is_a_text(written: str) -> None:
    """It does not become another namespace silently; null and nothing are none."""
    with pytest.raises(UnreadableFile, match=r"^document 1, line 1: Thing: metadata\.namespace: "):
        parse(HEAD.replace("name: a", f"name: a, namespace: {written}"))
    assert parse(HEAD.replace("name: a", "name: a, namespace: null"))
