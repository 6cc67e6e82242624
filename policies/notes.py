"""What was worked out from one snapshot: kept with it, dropped with it, never part of its value."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Result = TypeVar("Result")


class Notes:
    """Results that depend on one snapshot alone, on a page for each module that works them out."""

    __slots__ = ("_pages",)

    def __init__(self) -> None:
        """Begin with nothing."""
        self._pages: dict[str, dict[Any, Any]] = {}

    def page(self, owner: str) -> dict[Any, Any]:
        """Return a module's own page, which it may bound as it likes.

        Args:
            owner: ``__name__`` of the module.
        """
        page = self._pages.get(owner)
        if page is None:
            page = self._pages[owner] = {}
        return page

    def once(self, owner: str, key: Hashable, work_out: Callable[[], Result]) -> Result:
        """Return the result for a key, worked out at the first call only.

        Args:
            owner: ``__name__`` of the module.
            key: What the result depends on beside the snapshot.
            work_out: Gives the result; not called again for an equal key.
        """
        page = self.page(owner)
        if key not in page:
            page[key] = work_out()
        found: Result = page[key]
        return found
