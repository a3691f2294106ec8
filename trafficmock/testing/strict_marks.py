"""Reads the settings of strict mode from pytest's options, ini file and marks.

Every run with the plugin calls this module at its start, even without mocks, so it imports nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.allow_patterns import Allowed

MARK = "trafficmock"
OPTION = "--trafficmock-strict"
INI_STRICT = "trafficmock_strict"
INI_ALLOW = "trafficmock_allow"
_MEANING = (
    "trafficmock(strict=True, allow=['auth.example']): refuse the requests of this test that no "
    "route wants, but for these hosts, URL globs and dicts of conditions"
)
_KEYWORDS = ("strict", "allow")


class MarkError(ValueError):
    """A mark ``trafficmock`` has invalid arguments."""


def add_options(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    """Add the option and the ini values of strict mode."""
    strict = "refuse requests that no route of a test wants, and fail for them"
    group.addoption(OPTION, action="store_true", default=False, help=strict)
    parser.addini(INI_STRICT, strict, type="bool", default=False)
    allow = "hosts and URL globs that strict mode allows, one a line"
    parser.addini(INI_ALLOW, allow, type="linelist", default=[])


def add_mark(config: pytest.Config) -> None:
    """Register the mark, for ``--markers`` and ``--strict-markers``."""
    config.addinivalue_line("markers", _MEANING)


def allowed_in_run(config: pytest.Config) -> tuple[str, ...] | None:
    """Return the patterns that a strict run allows; ``None`` if the run is not strict."""
    strict = config.getoption(OPTION) or config.getini(INI_STRICT)
    return tuple(config.getini(INI_ALLOW)) if strict else None


def settings(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of ``TestInfo`` for strict mode.

    The nearest mark with ``strict`` decides: the test's, the class's or the module's; then the
    option and the ini file. The patterns of all of them are allowed.

    :raises MarkError: a mark has invalid arguments.
    """
    said = [_read(mark) for mark in item.iter_markers(MARK)]
    given = [strict for strict, _ in said if strict is not None]
    in_run = allowed_in_run(item.config) is not None
    strict = given[0] if given else in_run
    listed = list(item.config.getini(INI_ALLOW))
    for _, patterns in reversed(said):
        listed += [each for each in patterns if each not in listed]
    return {"strict": strict, "allow": tuple(listed), "exempt": in_run and not strict}


def _read(mark: pytest.Mark) -> tuple[bool | None, Sequence[Allowed]]:
    if mark.args:
        raise _error(f"takes no argument without a name, and has {mark.args[0]!r}")
    for name in mark.kwargs:
        if name not in _KEYWORDS:
            from difflib import get_close_matches  # noqa: PLC0415 - only for an error

            near = get_close_matches(name, _KEYWORDS, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _error(f"has no argument {name}{hint}")
    strict, allow = mark.kwargs.get("strict"), mark.kwargs.get("allow", ())
    if strict not in (None, True, False):
        raise _error(f"has strict={strict!r}: it is True or False")
    if not isinstance(allow, list | tuple) or not all(
        isinstance(each, str | dict) for each in allow
    ):
        raise _error(
            f"has allow={allow!r}: it is a list of hosts, URL globs and dicts of conditions"
        )
    return strict, allow


def _error(text: str) -> MarkError:
    return MarkError(f"@pytest.mark.trafficmock {text}. Its form is {_MEANING}")
