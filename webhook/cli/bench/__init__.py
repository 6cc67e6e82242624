"""The verb ``bench``: what the webhook costs on this machine, beside what it may cost.

Every figure of one run is taken on the same machine within two minutes, so that ratios mean
something where absolute times do not. Each measurement runs in a process of its own.
"""

import argparse
import os
import sys
from typing import Final

NAME = "bench"
HELP = "measure what a decision costs on this machine, beside its targets"

MISSED_CODE: Final = 1
FAILED_CODE: Final = 2
BUSY_SHARE: Final = 0.5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of the verb."""
    parser.add_argument(
        "--quick", action="store_true", help="fewer repetitions: a quarter of the time, more noise"
    )
    parser.epilog = (
        "Exit code 0: every target is met. 1: one is missed, and the last line says which. "
        "2: something could not be measured."
    )


def run(args: argparse.Namespace) -> int:
    """Measure, print the figures beside their targets, and return the exit code."""
    from webhook.cli.bench import measures  # noqa: PLC0415 - heavy, and only now needed
    from webhook.cli.bench.figures import Figure, last_line  # noqa: PLC0415
    from webhook.cli.bench.processes import BenchFailed  # noqa: PLC0415

    busy = _busy()
    figures: list[Figure] = []
    try:
        for figure in measures.all_of(measures.QUICK if args.quick else measures.FULL):
            sys.stdout.write(f"{figure.line()}\n")
            sys.stdout.flush()
            figures.append(figure)
    except BenchFailed as err:
        sys.stderr.write(f"rdma-webhook bench: {err}\n")
        return FAILED_CODE
    sys.stdout.write(f"{busy}{last_line(figures)}\n")
    return MISSED_CODE if any(figure.is_missed for figure in figures) else 0


def _busy() -> str:
    """Return a line that warns of others' work on this machine; empty where it is idle."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    load = os.getloadavg()[0]
    if load / processors < BUSY_SHARE:
        return ""
    return (
        f"others were busy here (load {load:.1f} on {processors} processors): times, and latencies "
        "most of all, are upper bounds\n"
    )
