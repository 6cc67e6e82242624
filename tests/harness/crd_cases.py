"""The table of our CRDs' rules: for each a right object and a wrong one, in ``e2e/crd_cases``.

The real API server and the readers of files are held to the same table.
"""

import copy
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from policies.manifests.kinds import KINDS
from policies.names import API_VERSION

Object = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "e2e" / "crd_cases"
PLURALS = {kind.name: kind.plural for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Case:
    """One way to break one rule.

    Attributes:
        name: What it is, unique in its file.
        stored: The object that is there before, of a rule about changes.
        valid: An object that is taken (of a rule about changes: in place of the stored one).
        invalid: One that is refused.
        causes: ``(field, message)`` of every complaint, the rule's own first.
        rule: The rule's own message, where the message is made of values.
    """

    name: str
    stored: Object | None
    valid: Object
    invalid: Object
    causes: tuple[tuple[str, str], ...]
    rule: str

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.invalid["kind"])

    @property
    def place(self) -> str:
        """Path of the field in a schema, as rules spell it: ``spec.rails.[].master``."""
        return re.sub(r"\[\d+\]", ".[]", self.causes[0][0])


@functools.cache
def cases() -> tuple[Case, ...]:
    """Return the whole table."""
    return tuple(case for path in sorted(FOLDER.glob("*.yaml")) for case in _read(path))


def _read(path: Path) -> Iterator[Case]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    names = [raw["name"] for raw in document["cases"]]
    assert len(set(names)) == len(names), f"{path}: a name is there twice"
    for raw in document["cases"]:
        bases = [raw["of"]] if isinstance(raw["of"], str) else raw["of"]
        for base in bases:
            yield _case(f"{path.stem}: {raw['name']} ({base})", document["bases"][base], raw)


def _case(name: str, base: Object, raw: Object) -> Case:
    base = {"apiVersion": API_VERSION, **base}
    also = [(one["field"], one["message"]) for one in raw.get("also", [])]
    return Case(
        name=name,
        stored=base if raw.get("is_update") else None,
        valid=merged(base, raw.get("valid", {})),
        invalid=merged(base, raw["invalid"]),
        causes=((raw["field"], raw["message"]), *also),
        rule=str(raw.get("rule", raw["message"])),
    )


def merged(old: Any, change: Any) -> Any:  # noqa: ANN401 JSON is anything
    """Return a JSON merge patch applied (RFC 7396); the old value is left as it is."""
    if not isinstance(change, dict):
        return copy.deepcopy(change)
    found = dict(old) if isinstance(old, dict) else {}
    for key, value in change.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return copy.deepcopy(found)


def collection(found: Object) -> str:
    """Return the API path of the objects beside an object of ours."""
    namespace = found["metadata"].get("namespace")
    middle = f"namespaces/{namespace}/" if namespace else ""
    return f"/apis/{API_VERSION}/{middle}{PLURALS[found['kind']]}"


def causes(answer: Object) -> list[tuple[str, str]]:
    """Return what the API server complains about: ``(field, message)``, without the value."""
    said = answer.get("details", {}).get("causes", [])
    return [(one["field"], _bare(one["message"])) for one in said]


_VALUE = r'"(?:[^"\\]|\\.)*"|-?\d+'
_PREFIX = re.compile(rf"(?:Invalid value(?:: (?:{_VALUE}))?|Forbidden|Required value): ")


def _bare(message: str) -> str:
    """Return a message without what the API server puts before it: the kind of error, the value."""
    return _PREFIX.sub("", message, count=1)
