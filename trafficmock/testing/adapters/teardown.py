"""How a test's leftover errors are raised, and what is added to the error of a failing test."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TITLE = "traffic of this test"

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


def raise_errors(title: str, errors: Sequence[BaseException]) -> None:
    """Raise what is left of a test, named by it.

    :raises ExceptionGroup: there is something.
    """
    if errors:
        raise BaseExceptionGroup(f"errors in the mocks of {title}", list(errors))


def note_errors(error: BaseException, errors: Sequence[BaseException]) -> None:
    """Note what is left on the error that the test fails with anyway."""
    for each in errors:
        notes = "".join(f"\n  {note}" for note in getattr(each, "__notes__", ()))
        error.add_note(f"also, in the test's mocks: {type(each).__name__}: {each}{notes}")


def note_traffic(error: BaseException, text: str) -> None:
    """Note on the error that a test fails with what its traffic was.

    :param text: the report; empty where there is none.
    """
    if text:
        error.add_note(f"\n{TITLE}:\n{text}")


def show_in_text(error: BaseException, text: str) -> None:
    """Add to what an error says, for runners that do not show notes.

    An error that makes its text of other things than its first argument stays as it is.
    """
    before, wanted = error.args, f"{error}\n{text}" if str(error) else text
    error.args = (wanted,)
    if str(error) != wanted:
        error.args = before


@contextmanager
def wrap_test_method(case: Any, wrap: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
    """Put something around the method of a test case while it runs.

    :param case: of unittest or trial.
    :param wrap: makes the method that is run of the one that was written.
    """
    name = case._testMethodName  # noqa: SLF001 - unittest's and trial's name for it
    before = vars(case).get(name)
    method = getattr(case, name)
    wrapped = wrap(method)
    if wrapped is not method:
        # Marks such as `skip` and `todo` are the method's attributes.
        vars(wrapped).update(vars(method))
    setattr(case, name, wrapped)
    try:
        yield
    finally:
        if before is None:
            delattr(case, name)
        else:
            setattr(case, name, before)
