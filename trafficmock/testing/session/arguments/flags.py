"""Checks arguments that are true or false: not every test is type-checked."""

from __future__ import annotations

from trafficmock.testing.errors import UsageError


def check_flag(name: str, given: object) -> None:
    """Check an argument that is ``True`` or ``False``.

    :param name: the argument, for the error.
    :raises UsageError: it is something else, such as a text, which would count as true.
    """
    if not isinstance(given, bool):
        raise UsageError(f"{name} is True or False, not {given!r}")
