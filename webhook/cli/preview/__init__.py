"""The verb ``preview``: what the webhook would make of the pods in some files, and why.

Joins the rooms beside it. Nothing is asked of a cluster: the files, and a folder if one is given,
are all that is known.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from policies.refusal import cleaned
from webhook.cli.colours import CHOICES, painter
from webhook.settings import RULE_SETTINGS, SOURCE_SETTINGS, add_flags, read, read_rules
from webhook.settings.errors import SettingsError

if TYPE_CHECKING:
    from webhook.cli.preview.objects import Checked
    from webhook.cli.preview.report import Bystander
    from webhook.cli.preview.sources import Given
    from webhook.cli.preview.verdicts import Judged
    from webhook.cli.preview.world import World

NAME = "preview"
HELP = "show what becomes of the pods in some files, and why"

ADMITTED_CODE: Final = 0
REFUSED_CODE: Final = 1
UNTOLD_CODE: Final = 2
FORMATS: Final = ("diff", "yaml", "json", "patch")
_FROM_HELP: Final = (
    "What the cluster holds: the networks, policies and other objects in the YAML and JSON files "
    "of this folder. The files of -f go over it."
)
_FROM: Final = tuple(replace(one, help=_FROM_HELP) for one in SOURCE_SETTINGS if one.name == "from")
_LONGEST_NAME: Final = 253
"""Of an object, in characters: a DNS subdomain."""
_LONGEST_LINE: Final = 4096
"""Of standard error, in characters: a path and a sentence fit."""
_ORDER: Final = """\
Every document of the files counts as applied: networks, policies, attachments and namespaces join
what the folder of --from holds. Any workload kind may be given; its pod templates are judged by
the code that the server runs. So are networks, policies and partitions beside each other.

Exit code 0: all is admitted. 1: a pod or an object of ours is refused. 2: it cannot be told, since
a file cannot be read, holds neither, or the files hold a pod whose policy, network or attachment
they do not hold. With --from the folder is taken for the whole cluster: what is in neither is
refused (1).

-o yaml prints the pods as they would be stored, -o patch one JSON array of RFC 6902 operations a
template, -o json everything.

The settings from --from on have environment variables, in brackets. A flag wins over its variable,
a variable over the file of --config, the file over the default.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of the verb."""
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        action="append",
        required=True,
        help="YAML or JSON, several documents or a List; - is standard input; may be repeated",
    )
    parser.add_argument(
        "-n",
        "--namespace",
        default="default",
        help="namespace of objects that name none (default: default)",
    )
    parser.add_argument(
        "-o", "--output", choices=FORMATS, default="diff", help="what to print (default: diff)"
    )
    parser.add_argument(
        "--color", choices=CHOICES, default="auto", help="colour; auto: on a terminal only"
    )
    add_flags(parser, (*_FROM, *RULE_SETTINGS))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _ORDER


def run(args: argparse.Namespace) -> int:
    """Preview the files and return the exit code."""
    from webhook.cli.preview import objects, sources, world  # noqa: PLC0415 - heavy, and only now needed

    try:
        rules = read_rules(args, os.environ)
        folder = read(_FROM, args, os.environ)["folder"]
    except SettingsError as err:
        return _refuse(str(err))
    reading = sources.read(args.filename)
    for note in reading.notes:
        _say(f"warning: {note}")
    if reading.problems:
        return _refuse(*reading.problems)
    place = folder if isinstance(folder, Path) else None
    known = world.build(reading.objects, place, args.namespace, rules)
    for problem in known.problems:
        _say(f"warning: {problem}")
    verdicts, bystanders = _judged(known, args.namespace)
    checked = objects.checked(known)
    if not verdicts and not bystanders and not checked:
        return _refuse("the files hold no pod, no pod template and no object of ours")
    _print(args, verdicts, bystanders, checked, known)
    if any(one.reason for one in checked):
        return REFUSED_CODE
    return _code(verdicts) if verdicts or bystanders else ADMITTED_CODE


def _judged(known: "World", namespace: str) -> tuple[list["Judged"], list["Bystander"]]:
    """Return what becomes of every template, and what there is to say about other objects."""
    from webhook.cli.preview.report import Bystander  # noqa: PLC0415 - see run
    from webhook.cli.preview.verdicts import judge  # noqa: PLC0415
    from webhook.cli.preview.world import namespace_of  # noqa: PLC0415
    from webhook.pods.templates import templates  # noqa: PLC0415

    verdicts: list[Judged] = []
    bystanders: list[Bystander] = []
    for given in known.workloads:
        place = namespace_of(given.object, namespace)
        title = _title(given, place)
        found = [judge(one, title, place, known) for one in templates(given.object)]
        notes = tuple(_notes(given, found))
        verdicts += found
        if notes:
            bystanders.append(Bystander(title, notes))
    return verdicts, bystanders


def _title(given: "Given", namespace: str) -> str:
    metadata = given.object.get("metadata") or {}
    name = metadata.get("name") or f"{metadata.get('generateName')}*"
    parts = (given.object.get("kind"), namespace, name)
    kind, place, called = (cleaned(str(part), _LONGEST_NAME) for part in parts)
    return f"{kind} {place}/{called}"


def _notes(given: "Given", found: list["Judged"]) -> Iterator[str]:
    """Yield what its author should know about an object, beyond its templates."""
    from policies.wish import is_ours  # noqa: PLC0415 - see run
    from webhook.pods.strays import strays  # noqa: PLC0415
    from webhook.pods.templates import elsewhere  # noqa: PLC0415

    for stray in strays(given.object, is_ours):
        remedy = f"; write it in {stray.better}" if stray.better else ""
        yield f"{stray.path}[{stray.key}]: no pod gets it from there{remedy}"
    source = elsewhere(given.object)
    if source and not found:
        yield f"its pods come from {source}; preview that"


def _print(
    args: argparse.Namespace,
    verdicts: list["Judged"],
    bystanders: list["Bystander"],
    objects: list["Checked"],
    known: "World",
) -> None:
    """Write the result to standard output, and beside machines' formats the rest to the other."""
    from webhook.cli.preview import formats, report  # noqa: PLC0415 - see run

    notes = [f"{one.title}: {note}" for one in bystanders for note in one.notes]
    match args.output:
        case "diff":
            paint = painter(args.color, sys.stdout, os.environ)
            blocks = [report.bystander(one, paint) for one in bystanders]
            told = [one for one in objects if not (verdicts and one.is_silent)]
            blocks += [report.checked(one, paint) for one in told]
            blocks += [report.block(one, known, paint) for one in verdicts]
            for lines in blocks:
                _write(*lines, "")
            _write(report.summary(verdicts, objects))
            return
        case "yaml":
            _write(*formats.as_pods(verdicts))
        case "patch":
            _write(*formats.as_patches(verdicts))
        case _:
            _write(formats.as_json(verdicts, objects, known, notes))
            return
    _complain(notes, objects, verdicts)


def _complain(notes: list[str], objects: list["Checked"], verdicts: list["Judged"]) -> None:
    """Write what is no pod and no patch to standard error."""
    from webhook.cli.preview import formats, report  # noqa: PLC0415 - see run

    notes += [f"{one.title}: {text}" for one in objects for text in one.warnings]
    for note in notes:
        _say(f"warning: {note}")
    for one in objects:
        if one.reason:
            _say(f"{one.title}: {one.reason}: {one.message}")
    for judged in verdicts:
        if judged.verdict not in formats.ADMITTED:
            _say(f"{report.title(judged)}: {judged.reason or judged.verdict}: {judged.message}")


def _code(verdicts: list["Judged"]) -> int:
    found = {one.verdict for one in verdicts}
    if "Denied" in found:
        return REFUSED_CODE
    return ADMITTED_CODE if found and found <= {"Patched", "Unchanged"} else UNTOLD_CODE


def _refuse(*problems: str) -> int:
    for problem in problems:
        _say(problem)
    return UNTOLD_CODE


def _write(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def _say(text: str) -> None:
    sys.stderr.write(f"rdma-webhook preview: {cleaned(text, _LONGEST_LINE)}\n")
