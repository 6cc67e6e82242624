"""``make golden``: write what the engine answers into ``expect`` of golden cases.

Everything above ``expect`` stays as its author wrote it, and so do ``message_has`` and ``also``:
these two say what a case is about, and the diff of the rest is what reviewers read.

    python -m tests.harness.golden --rewrite [PATH…]      only those files or folders
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.harness import golden
from tests.harness.golden_case import Case, Expect, Outcome

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./~-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def main(arguments: list[str]) -> None:
    """Rewrite the cases of some files or folders, and print those that changed."""
    for path in _files(arguments):
        old = path.read_text()
        new = rewritten(old, golden.load(path))
        if new != old:
            path.write_text(new)
            sys.stdout.write(f"rewritten: {path}\n")


def _files(arguments: list[str]) -> list[Path]:
    paths = [Path(argument) for argument in arguments] or [golden.GOLDEN]
    return [one for path in paths for one in (golden.discover(path) if path.is_dir() else [path])]


def rewritten(text: str, case: Case) -> str:
    """Return the text of a case with the engine's answer as its expectation."""
    body, waits = golden.ask(case, golden.pod_of(case), golden.snapshot_of(case))
    return written(text, case, golden.outcome_of(body, waits))


def written(text: str, case: Case, found: Outcome | Expect) -> str:
    """Return the text of a case with an outcome as its expectation, in the one style there is."""
    head, mark, _ = text.partition("\nexpect:")
    assert mark, "a case ends with its expect"
    return head + "\nexpect:\n" + "".join(f"  {line}\n" for line in _lines(case, found))


def _lines(case: Case, found: Outcome | Expect) -> Iterator[str]:
    yield f"verdict: {found.verdict}"
    for key in ("waits", "code", "reason"):
        value = getattr(found, key)
        if value is not None:
            yield f"{key}: {_written(value)}"
    if case.expect.message_has:
        yield f"message_has: {_written(case.expect.message_has)}"
    if found.warnings:
        yield "warnings:"
        yield from (f"- {_written(text)}" for text in found.warnings)
    if case.expect.also:
        yield "also:"
        for claim in case.expect.also:
            tail = "absent: true" if claim.absent else f"equals: {_written(claim.equals)}"
            yield f"- {{path: {_written(claim.path)}, {tail}}}"
    if found.patch:
        yield "patch:"
        for op in found.patch:
            path, value = _written(op["path"]), _written(op["value"])
            yield f"- {{op: {op['op']}, path: {path}, value: {value}}}"


def _written(value: Any) -> str:  # noqa: ANN401 JSON is anything
    """Return a value as YAML flow text on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written(k)}: {_written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value, ensure_ascii=False)
