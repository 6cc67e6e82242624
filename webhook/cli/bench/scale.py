"""What a large cluster costs: memory, and the time of decisions and events beside a small one's.

Runs as a process of its own (``python -m webhook.cli.bench.scale TENANTS ROUNDS``) that imports
what ``serve`` imports, and prints JSON.
"""

import json
import sys
import time

from policies.snapshot import Snapshot
from webhook.admission.handle import handle
from webhook.cli import garbage, service
from webhook.cli.bench import events, objects
from webhook.cli.bench.clock import micros
from webhook.cli.bench.pods import USUAL, body
from webhook.cli.bench.processes import megabytes

FEW = 10
PODS = 16
TURNS = 3
"""Times that both clusters are looked at, in turn: others' work then falls on both."""


def main(tenants: int, rounds: int) -> None:
    """Build the large cluster, measure, and print the result as JSON."""
    before = megabytes()
    started = time.perf_counter()
    large = objects.snapshot(tenants)
    seconds = time.perf_counter() - started
    garbage.settle()
    after = megabytes()
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
                "events": _events(small, large, rounds),
            }
        )
    )


def _events(small: Snapshot, large: Snapshot, rounds: int) -> dict[str, list[float]]:
    """Return the microseconds of an event of each kind, in the small cluster and in the large."""
    found = [(events.costs(small, rounds), events.costs(large, rounds)) for _ in range(TURNS)]
    return {
        kind: [min(turn[size][kind] for turn in found) for size in range(2)] for kind in found[0][0]
    }


_IMPORTED = service.run_service

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
