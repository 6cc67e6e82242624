"""The verb ``crds``: what the API server is told, as YAML, printed, written or compared.

That is our CustomResourceDefinitions, or with a flag our ValidatingAdmissionPolicies.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from policies.manifests.admission import admission_policies
from policies.manifests.crd import documents
from policies.names import GROUP

NAME = "crds"
HELP = "print the CustomResourceDefinitions, or the admission policies, as YAML"

_ADMISSION_FLAG = "--admission-policies"
_HEADER = "# Made by `rdma-webhook {command}`; edit {source}, not this file.\n"
_CRD_HEADER = _HEADER.format(command=NAME, source="the models")
_ADMISSION_HEADER = _HEADER.format(command=f"{NAME} {_ADMISSION_FLAG}", source="policies/manifests")


class _Indented(yaml.SafeDumper):
    """Writes lists indented below their key, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - PyYAML's signature
        super().increase_indent(flow, indentless=False)


class _Readable(_Indented):
    """Writes CEL folded and unquoted, since it is full of quotes itself."""


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = ">" if "'" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Readable.add_representer(str, _text_node)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of the verb."""
    parser.add_argument(
        _ADMISSION_FLAG,
        action="store_true",
        help="the ValidatingAdmissionPolicies with their bindings, in place of the "
        "CustomResourceDefinitions",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--output", metavar="DIR", type=Path, help="write one file for each into this folder"
    )
    where.add_argument(
        "--check",
        metavar="DIR",
        type=Path,
        help="compare with the files in this folder; exit 1 naming those that differ",
    )


def run(args: argparse.Namespace) -> int:
    """Print, write or compare the documents and return the exit code."""
    files = rendered_admission() if args.admission_policies else rendered()
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
        f"{GROUP}_{name.partition('.')[0]}.yaml": _CRD_HEADER + _dumped([document], _Indented)
        for name, document in documents().items()
    }


def rendered_admission() -> dict[str, str]:
    """Return the YAML of every admission policy, with its binding, by its file name."""
    return {
        f"{policy.name}.yaml": _ADMISSION_HEADER
        + _dumped(policy.documents(), _Readable, sort_keys=False)
        for policy in admission_policies()
    }


def _dumped(
    documents: Iterable[Mapping[str, Any]], dumper: type[_Indented], *, sort_keys: bool = True
) -> str:
    text: str = yaml.dump_all(
        documents,
        Dumper=dumper,
        explicit_start=True,
        width=88,
        allow_unicode=True,
        sort_keys=sort_keys,
    )
    return text


def _check(folder: Path, files: Mapping[str, str]) -> int:
    """Name the files that are absent or differ; 1 if there are any."""
    differing = [name for name, text in files.items() if _content(folder / name) != text]
    for name in differing:
        sys.stderr.write(f"{folder / name}: differs from its source; run `make crds`\n")
    return 1 if differing else 0


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
