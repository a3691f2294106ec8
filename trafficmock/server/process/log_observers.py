"""What people and machines see of the log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TextIO

from twisted.logger import (
    FilteringLogObserver,
    ILogObserver,
    LogLevel,
    LogLevelFilterPredicate,
    eventAsText,
    formatTime,
    jsonFileLogObserver,
)
from zope.interface import implementer, provider

LEVELS = ("silent", "error", "warn", "info", "debug")


@implementer(ILogObserver)
class PeopleLogObserver:
    """Writes one short line an event, and the traceback of an internal failure.

    :param stream: where to write to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, event: dict[str, Any]) -> None:
        level = event.get("log_level", LogLevel.info).name
        text = eventAsText(event, includeTimestamp=False, includeSystem=False)
        self._stream.write(f"{formatTime(event.get('log_time'))} {level:5} {text}\n")
        self._stream.flush()


@provider(ILogObserver)
def silent(event: dict[str, Any]) -> None:
    """Write nothing."""


def make_observer(path: str, level: str, *, as_json: bool) -> ILogObserver:
    """Make the one observer of the log.

    :param path: a file, or ``-`` for standard output.
    :param level: one of :data:`LEVELS`; libraries speak from ``warn`` on, and in ``debug``.
    :param as_json: write JSON lines for machines.
    """
    if level == "silent":
        return silent  # type: ignore[no-any-return] # zope.interface: a function may be one
    stream = sys.stdout if path == "-" else Path(path).open("a", encoding="utf-8")  # noqa: SIM115 - open as long as we run
    write = jsonFileLogObserver(stream) if as_json else PeopleLogObserver(stream)
    ours = LogLevel.levelWithName(level)
    others = ours if level == "debug" else max(ours, LogLevel.warn, key=_rank)
    predicate = LogLevelFilterPredicate(defaultLogLevel=others)
    predicate.setLogLevelForNamespace("trafficmock", ours)
    observer: ILogObserver = FilteringLogObserver(write, [predicate])
    return observer


def _rank(level: Any) -> int:
    return list(LogLevel.iterconstants()).index(level)
