"""What one event of the cluster costs, with the swap of the snapshot, however large the cluster is.

Part of the measurements in :mod:`webhook.cli.bench.scale`.
"""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Final

from policies import names
from policies.changes import Put
from policies.snapshot import Snapshot
from webhook.apiserver.kinds import KINDS
from webhook.cli.bench import objects
from webhook.cli.bench.clock import micros
from webhook.watch.cache import Cache

TENANTS: Final = 10
"""Of whom each changes; a small cluster has as many."""


def costs(snapshot: Snapshot, rounds: int) -> dict[str, float]:
    """Return the microseconds of one event of a NAD, and of a policy, swap included.

    Args:
        snapshot: Of the cluster of :mod:`webhook.cli.bench.objects`.
        rounds: Means taken.
    """
    return {
        "nad": asyncio.run(_cost(snapshot, list(nads()), rounds)),
        "policy": asyncio.run(_cost(snapshot, list(policies()), rounds)),
    }


async def _cost(snapshot: Snapshot, changes: list[Put], rounds: int) -> float:
    """Return the microseconds until one change is in the snapshot that requests are judged by."""
    loop = asyncio.get_running_loop()
    kinds = [kind.name for kind in KINDS]
    cache = Cache(snapshot, kinds, timedelta(minutes=1), loop.time)

    def taken(change: Put) -> None:
        cache.offer([change])
        cache.flush()

    return micros(taken, changes, rounds)


def nads() -> Iterator[Put]:
    """Yield NADs that change their interface, and then change it back."""
    several = objects.attachments(TENANTS)
    chosen = list(islice(several, 0, None, objects.NADS_PER_TENANT))
    for master in ("ens1", "ens2"):
        for one in chosen:
            config = one["spec"]["config"].removesuffix("}") + f', "master": "{master}"}}'
            yield Put(names.NAD, {**one, "spec": {"config": config}})


def policies() -> Iterator[Put]:
    """Yield policies that change their number and their level, and then change them back."""
    for enforcement, shift in (("Warn", 20_000), ("Enforce", 0)):
        for one in objects.policies(TENANTS):
            spec = one["spec"]
            for grant in spec["networks"]:
                grant["partitions"][0]["number"] += shift
            yield Put(names.POLICY, {**one, "spec": {**spec, "enforcement": enforcement}})
