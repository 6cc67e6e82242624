"""How much a property test may try: little, and the same examples in every run."""

from hypothesis import HealthCheck, settings

small = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
"""For a property whose inputs are small; a slow machine is no failure."""
