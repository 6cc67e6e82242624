"""What a large cluster costs: memory, and the time of a decision beside a small cluster's.

Runs as a process of its own (``python -m webhook.cli.bench.scale TENANTS ROUNDS``) that imports
what ``serve`` imports, and prints JSON.
"""

import json
import os
import sys
import time
from pathlib import Path

from webhook.admission.handle import handle
from webhook.cli import garbage, service
from webhook.cli.bench import objects
from webhook.cli.bench.clock import micros
from webhook.cli.bench.pods import USUAL, body

FEW = 10
PODS = 16


def main(tenants: int, rounds: int) -> None:
    """Build the large cluster, measure, and print the result as JSON."""
    before = _megabytes()
    started = time.perf_counter()
    large = objects.snapshot(tenants)
    seconds = time.perf_counter() - started
    garbage.settle()
    after = _megabytes()
    bodies = [body(USUAL, number) for number in range(PODS)]
    small = objects.snapshot(FEW)
    sys.stdout.write(
        json.dumps(
            {
                "program": before,
                "memory": after,
                "build": seconds,
                "few": micros(lambda one: handle(one, small), bodies, rounds),
                "many": micros(lambda one: handle(one, large), bodies, rounds),
            }
        )
    )


def _megabytes() -> float | None:
    """Return the resident memory of this process; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


_IMPORTED = service.run_service

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
