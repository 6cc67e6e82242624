"""How every part of the harness lives: described, started, stopped."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Started(ABC):
    """What runs from :meth:`start` to :meth:`stop`, or as long as a ``with`` block."""

    def __enter__(self) -> Self:
        """Start and return itself."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @abstractmethod
    def start(self) -> None:
        """Return when it can be used; where it fails, nothing of it is left."""

    @abstractmethod
    def stop(self) -> None:
        """End it and all that it made."""
