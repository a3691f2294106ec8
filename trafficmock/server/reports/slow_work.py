"""Work on a large text, which would delay all decisions if it were done in one turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")

LARGE = 16 * 1024
"""Characters from which on secrets are looked for in a thread; so many take at most 40 ms."""


@define(eq=False)
class SlowWork(Generic[T]):
    """A function that steps yield, so that it may be called in a thread before they go on."""

    function: Callable[[], T]
    _made: list[T] = field(init=False, factory=list)

    def run(self) -> None:
        """Call the function."""
        self._made = [self.function()]

    def result(self) -> T:
        """Return what it returned; it is called now if it was not yet."""
        if not self._made:
            self.run()
        return self._made[0]
