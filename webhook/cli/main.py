"""``rdma-webhook``: find the verb, run it, and never show anybody a traceback.

Each verb is a file here that exports ``NAME``, ``HELP``, ``configure(parser)`` and
``run(args) -> int``. Only the one that runs is imported, and it imports what is heavy when it
runs.
"""

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from policies.names import VERSION

PROGRAM: Final = "rdma-webhook"
VERBS: Final = ("serve", "preview", "crds", "bench")
"""Every verb; its file has its name."""
USAGE_CODE: Final = 2
FAILED_CODE: Final = 70
"""EX_SOFTWARE of sysexits.h: a mistake of ours."""
INTERRUPTED_CODE: Final = 130
PIPE_CODE: Final = 141
LOG_LEVEL_VARIABLE: Final = "RDMA_WEBHOOK_LOG_LEVEL"

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb that the arguments name and return the exit code.

    Args:
        argv: Without the program's name; those of the process if not given.

    Returns:
        What the verb returned; 2 for arguments that cannot be used, 70 for a mistake of ours.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _parser(arguments).parse_args(arguments)
        code: int = args.run(args)
    except SystemExit as err:
        return err.code if isinstance(err.code, int) else int(err.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED_CODE
    except BrokenPipeError:
        # Who read our output left; nobody is there to be told, and flushing at exit would fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CODE
    except Exception as err:  # noqa: BLE001 - the edge of the program: nobody shall see a traceback
        return _give_up(err, arguments)
    return code


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser that knows every verb by name, and the flags of the one asked for."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Equips Kubernetes pods for RDMA from one annotation.",
        epilog=f"{PROGRAM} VERB --help says what a verb takes.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    verbs = parser.add_subparsers(metavar="VERB", title="verbs", required=True)
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name in (asked,) if asked in VERBS else VERBS:
        module = _load(name)
        if module is not None:
            verb = verbs.add_parser(
                module.NAME,
                help=module.HELP,
                description=f"{module.HELP[:1].upper()}{module.HELP[1:].rstrip('.')}.",
                allow_abbrev=False,
            )
            module.configure(verb)
            verb.set_defaults(run=module.run)
    return parser


def _load(name: str) -> ModuleType | None:
    """Return a verb's module; None where this build was made without it."""
    path = f"{__package__}.{name}"
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as err:
        if err.name == path:
            return None
        raise


def _give_up(err: Exception, arguments: Sequence[str]) -> int:
    """Say in one sentence that we failed; where it was asked for, log the traceback."""
    reason = " ".join(str(err).split()) or "no reason given"
    sys.stderr.write(
        f"{PROGRAM}: unexpected {type(err).__name__}: {reason}; "
        "--log-level debug logs where it happened\n"
    )
    if _wants_details(arguments):
        from webhook import logs  # noqa: PLC0415 - only who failed needs it

        logs.configure("debug")
        log.error("gave_up", exc_info=err, extra={"fields": {"version": VERSION}})
    return FAILED_CODE


def _wants_details(arguments: Sequence[str]) -> bool:
    said = " ".join(arguments).replace("=", " ")
    return "--log-level debug" in said or os.environ.get(LOG_LEVEL_VARIABLE, "") == "debug"
