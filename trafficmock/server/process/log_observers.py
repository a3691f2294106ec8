"""The log observers: lines of text for people, lines of JSON for machines."""

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
    """Writes one line for each event, and the traceback of a failure.

    :param stream: the file to write to.
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
    """Make the observer of the log.

    :param path: a file, or ``-`` for standard output.
    :param level: one of :data:`LEVELS`. Events of libraries are logged from ``warn`` on, and with
        ``debug`` all of them.
    :param as_json: whether to write JSON lines for machines.
    :raises OSError: if the file cannot be opened.
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
