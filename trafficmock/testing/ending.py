"""How a test's leftover errors are raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


def raise_left(title: str, errors: Sequence[BaseException]) -> None:
    """Raise what is left of a test, named by it.

    :raises ExceptionGroup: there is something.
    """
    if errors:
        raise BaseExceptionGroup(f"errors in the mocks of {title}", list(errors))


def add_left(error: BaseException, errors: Sequence[BaseException]) -> None:
    """Note what is left on the error that the test fails with anyway."""
    for each in errors:
        notes = "".join(f"\n  {note}" for note in getattr(each, "__notes__", ()))
        error.add_note(f"also, in the test's mocks: {type(each).__name__}: {each}{notes}")
