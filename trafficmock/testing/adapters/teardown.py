"""Raises the errors of a test's mocks at its end, and adds to the error of a failing test."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from trafficmock.testing.session.session import Session
from trafficmock.testing.session.traffic_report import TITLE

_SHOWN = 80
"""The most characters of an error in the text of a group."""


def raise_errors(title: str, errors: Sequence[BaseException]) -> None:
    """Raise the errors of a test's mocks as a group.

    An error that ends the run ends it from a function of the test, too. pytest does not look for it
    in a group.

    :param title: the test, for the text of the group.
    :raises BaseExceptionGroup: there are errors.
    :raises KeyboardInterrupt: one of them is that; the others are its notes. So it is with
        ``pytest.exit``.
    """
    ending = next((each for each in errors if _ends_run(each)), None)
    if ending is not None:
        note_errors(ending, [each for each in errors if each is not ending])
        raise ending
    if (group := group_of(title, errors)) is not None:
        raise group


def group_of(title: str, errors: Sequence[BaseException]) -> BaseExceptionGroup | None:
    """Return the errors of a test's mocks as a group; ``None`` if there are none."""
    if not errors:
        return None
    return BaseExceptionGroup(f"errors in the mocks of {title}: {_first(errors)}", list(errors))


def _ends_run(error: BaseException) -> bool:
    kind = type(error)
    is_exit = (kind.__module__, kind.__name__) == ("_pytest.outcomes", "Exit")
    return is_exit or isinstance(error, KeyboardInterrupt)


def _first(errors: Sequence[BaseException]) -> str:
    """Return the first line of the first error, for the one line of a summary."""
    text = (str(errors[0]).splitlines() or [""])[0]
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{type(errors[0]).__name__}: {shown}{more}"


def warn(session: Session) -> None:
    """Warn of what the proxy found about a test that has ended, and that does not fail it."""
    found, session.warnings[:] = list(session.warnings), []
    for each in found:
        warnings.warn(each, stacklevel=2)


def note_errors(error: BaseException, errors: Sequence[BaseException]) -> None:
    """Add the errors of a test's mocks as notes to the error that the test fails with."""
    for each in errors:
        notes = "".join(f"\n  {note}" for note in getattr(each, "__notes__", ()))
        error.add_note(f"also, in the test's mocks: {type(each).__name__}: {each}{notes}")


def note_traffic(error: BaseException, text: str) -> None:
    """Add the report of a test's traffic as a note to the error that the test fails with.

    :param text: the report; empty where there is none.
    """
    if text:
        error.add_note(f"\n{TITLE}:\n{text}")


def show_in_text(error: BaseException, text: str) -> None:
    """Append to the text of an error, for test runners that do not show notes.

    An error whose text is not made of its first argument stays as it is.
    """
    before, wanted = error.args, f"{error}\n{text}" if str(error) else text
    error.args = (wanted,)
    if str(error) != wanted:
        error.args = before


@contextmanager
def wrap_test_method(case: Any, wrap: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
    """Replace the test method of a test case during the block.

    :param case: a test case of unittest or trial.
    :param wrap: gets the bound method, and returns the function to run in its place.
    """
    name = case._testMethodName  # noqa: SLF001 - unittest's and trial's name for it
    before = vars(case).get(name)
    method = getattr(case, name)
    wrapped = wrap(method)
    if wrapped is not method:
        # Marks such as `skip` and `todo` are attributes of the method.
        vars(wrapped).update(vars(method))
    setattr(case, name, wrapped)
    try:
        yield
    finally:
        if before is None:
            delattr(case, name)
        else:
            setattr(case, name, before)
