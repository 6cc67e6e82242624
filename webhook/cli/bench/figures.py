"""One measured figure, beside the target that it has or has not."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        title: What was measured.
        value: None where this system does not let us measure it.
        unit: Of value and target; empty for a ratio.
        target: The most that is allowed (design: Budgets); None where nothing is promised.
        note: What it is made of.
    """

    title: str
    value: float | None
    unit: str = ""
    target: float | None = None
    note: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether the target is missed; what cannot be measured misses none."""
        return self.target is not None and self.value is not None and self.value > self.target

    def line(self) -> str:
        """Return the figure as one line of the table."""
        value = "not measured here" if self.value is None else f"{_short(self.value)} {self.unit}"
        target = ""
        if self.target is not None:
            verdict = "missed" if self.is_missed else "met" if self.value is not None else "unknown"
            target = f"target <= {_short(self.target)} {self.unit}".rstrip() + f": {verdict}"
        note = f"  ({self.note})" if self.note else ""
        return f"{self.title:<52} {value.rstrip():>12}  {target}{note}".rstrip()


def last_line(figures: Iterable[Figure]) -> str:
    """Return which targets are missed, or that all are met."""
    several = list(figures)
    missed = [figure.title for figure in several if figure.is_missed]
    if missed:
        return f"missed: {'; '.join(missed)}"
    unknown = [one.title for one in several if one.target is not None and one.value is None]
    return f"not measured here: {'; '.join(unknown)}" if unknown else "all targets are met"


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"  # noqa: PLR2004 three significant digits
