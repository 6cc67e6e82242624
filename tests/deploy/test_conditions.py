"""The page for who is on call has every reason that a condition can have, and no others."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from policies import attached, numbers, offers
from policies.refusal import Reason
from policies.standing import network, partition, policy

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text()
FINDINGS = {"yes": "True", "no": "False", "unknown": "Unknown"}
UNREADABLE = ("False", "Unreadable")
Row = tuple[str, str, str, str]
"""Kind, condition, status and reason."""


def documented() -> set[Row]:
    """Return the rows of the table; an empty cell says what the one above says."""
    part = PAGE.partition("<!-- conditions: ")[2].partition("<!-- end of conditions -->")[0]
    rows: set[Row] = set()
    kind = condition = ""
    for line in [line for line in part.splitlines() if line.startswith("| ")][1:]:
        cells = [cell.strip().strip("`") for cell in line.split("|")[1:6]]
        kind, condition = cells[0] or kind, cells[1] or condition
        rows.add((kind, condition, cells[2], cells[3]))
    return rows


def calls(module: ModuleType) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of plain functions in a module's source, by name."""
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node


def value(module: ModuleType, node: ast.expr) -> str | None:
    """Return the text that an expression stands for; None where it is known at run time only."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        return getattr(module, node.id, None)
    return None


def found(kind: str, module: ModuleType) -> Iterator[Row]:
    """Yield what a module of standings writes down; causes of troubles come beside."""
    for name, call in calls(module):
        if name == "unreadable":
            yield (kind, str(value(module, call.args[0])), *UNREADABLE)
        elif name in FINDINGS:
            condition, reason = (value(module, one) for one in call.args[:2])
            if reason is not None:
                yield kind, str(condition), FINDINGS[name], reason


def causes(module: ModuleType) -> Iterator[str]:
    """Yield why a network cannot be used: each refusal's cause, or its reason without one."""
    source = Path(str(module.__file__)).read_text()
    for name, call in calls(module):
        if name == "Refusal":
            cause = next((one.value for one in call.keywords if one.arg == "cause"), None)
            if cause is None:
                assert isinstance(call.args[0], ast.Attribute)
                yield Reason[call.args[0].attr].value
            elif isinstance(cause, ast.Constant):
                yield str(cause.value)
            else:
                yield from re.findall(r'^ +cause(?:, bad)? = "(\w+)"', source, re.MULTILINE)


def possible() -> set[Row]:
    """Return every condition that the code can write."""
    rows = {
        *found("RDMANetwork", network),
        *found("RDMAPolicy", policy),
        *found("RDMAPartition", partition),
    }
    for module in (offers, attached, numbers, policy):
        rows.update(("RDMAPolicy", policy.READY, "False", cause) for cause in causes(module))
    return rows


def test_every_reason_of_a_condition_is_in_the_page() -> None:
    """And what the page says can come about."""
    assert documented() == possible()


def test_each_standing_is_looked_at() -> None:
    """A module of standings that is not in the list above would hide its reasons."""
    folder = ROOT / "policies" / "standing"
    modules = [importlib.import_module(f"policies.standing.{one.stem}") for one in folder.glob("*.py") if one.stem != "__init__"]
    said = {one.__name__.rpartition(".")[2] for one in modules if list(found("", one))}
    assert said - {"finding"} == {"network", "partition", "policy"}
