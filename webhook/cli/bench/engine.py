"""What one decision costs: bytes in, bytes out, beside ``json.loads`` of the same bytes.

Runs as a process of its own (``python -m webhook.cli.bench.engine ROUNDS``) and prints JSON.
"""

import json
import sys

from policies import memo
from policies.snapshot import Snapshot
from webhook.admission import precedents, review
from webhook.admission.handle import decide, handle
from webhook.admission.verdict import Patched
from webhook.cli import garbage
from webhook.cli.bench import objects
from webhook.cli.bench.clock import micros
from webhook.cli.bench.pods import NAMESPACE, SIZES, USUAL, Size, body
from webhook.cli.bench.processes import BenchFailed
from webhook.pods.apply import apply
from webhook.pods.pod import Pod

PODS = 16
TENANTS = 10


def main(rounds: int) -> None:
    """Measure every size and print the result as JSON."""
    snapshot = objects.snapshot(TENANTS)
    garbage.settle()
    sizes = {size.title: _measured(size, snapshot, rounds) for size in SIZES}
    idle = [body(USUAL, number, network="") for number in range(PODS)]
    sys.stdout.write(
        json.dumps(
            {
                "sizes": sizes,
                "first": _first(rounds),
                "idle": micros(lambda one: handle(one, snapshot), idle, rounds),
            }
        )
    )


def _measured(size: Size, snapshot: Snapshot, rounds: int) -> dict[str, float]:
    """Return bytes, and microseconds of the engine, of its self-check, and of json.loads.

    ``engine`` is for the next pod of a job, ``judged`` for one whose spec was not seen before,
    as ranks have that differ in a variable.
    """
    bodies = [body(size, number) for number in range(PODS)]

    def judged(one: bytes) -> None:
        snapshot.notes.page(precedents.__name__).clear()
        handle(one, snapshot)

    return {
        "bytes": len(bodies[0]),
        "engine": micros(lambda one: handle(one, snapshot), bodies, rounds),
        "judged": micros(judged, bodies, rounds),
        "check": _check(bodies[0], snapshot, rounds),
        "loads": micros(json.loads, bodies, rounds),
    }


def _check(sent: bytes, snapshot: Snapshot, rounds: int) -> float:
    """Return the microseconds of applying the patch to the received pod, as the engine does."""
    verdict = decide(_pod(sent), NAMESPACE, snapshot)
    if not isinstance(verdict, Patched) or not verdict.ops:
        raise BenchFailed("the pods of the benchmark are not equipped")

    def applied(one: bytes) -> None:
        apply(verdict.ops, _pod(one))

    with_check = micros(applied, [sent], rounds)
    return max(0.0, with_check - micros(_pod, [sent], rounds))


def _pod(sent: bytes) -> Pod:
    found = review.decode(sent).object
    assert found is not None  # noqa: S101 our own review
    return found


def _first(rounds: int) -> float:
    """Return the microseconds of a job's first pod, when nothing of it is remembered."""
    snapshot = objects.snapshot(TENANTS)
    sent = body(USUAL)

    def forgotten(one: bytes) -> None:
        snapshot.notes.page(memo.__name__).clear()
        snapshot.notes.page(precedents.__name__).clear()
        handle(one, snapshot)

    return micros(forgotten, [sent], rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]))
