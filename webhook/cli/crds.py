"""The verb ``crds``: our CustomResourceDefinitions as YAML, printed, written or compared."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from policies.manifests.crd import documents
from policies.names import GROUP

NAME = "crds"
HELP = "print the CustomResourceDefinitions as YAML"

_HEADER = "# Made by `rdma-webhook crds`; edit the models, not this file.\n"


class _Indented(yaml.SafeDumper):
    """Writes lists indented below their key, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - PyYAML's signature
        super().increase_indent(flow, indentless=False)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of the verb."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--output", metavar="DIR", type=Path, help="write one file for each kind into this folder"
    )
    where.add_argument(
        "--check",
        metavar="DIR",
        type=Path,
        help="compare with the files in this folder; exit 1 naming those that differ",
    )


def run(args: argparse.Namespace) -> int:
    """Print, write or compare the CRDs and return the exit code."""
    files = rendered()
    if args.check is not None:
        return _check(args.check, files)
    if args.output is not None:
        args.output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (args.output / name).write_text(text, encoding="utf-8")
        return 0
    sys.stdout.write("".join(files.values()))
    return 0


def rendered() -> dict[str, str]:
    """Return the YAML of every CRD by its file name, each one document."""
    return {
        f"{GROUP}_{name.partition('.')[0]}.yaml": _text(document)
        for name, document in documents().items()
    }


def _text(document: Mapping[str, Any]) -> str:
    body = yaml.dump(document, Dumper=_Indented, explicit_start=True, width=88, allow_unicode=True)
    return f"{_HEADER}{body}"


def _check(folder: Path, files: Mapping[str, str]) -> int:
    """Name the files that are absent or differ; 1 if there are any."""
    differing = [name for name, text in files.items() if _content(folder / name) != text]
    for name in differing:
        sys.stderr.write(f"{folder / name}: differs from the models; run `make crds`\n")
    return 1 if differing else 0


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
