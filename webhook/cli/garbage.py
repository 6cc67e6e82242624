"""How the garbage collector is set while reviews are answered, for the service and its bench."""

import gc

THRESHOLD = (50_000, 20, 50)
"""Requests make few cycles; the default 700 walks young objects for nothing."""


def collect_rarely() -> None:
    """Look for cycles seldom."""
    gc.set_threshold(*THRESHOLD)


def settle() -> None:
    """Take everything that is there out of the collector's sight, and look for cycles seldom."""
    gc.collect()
    gc.freeze()
    collect_rarely()
