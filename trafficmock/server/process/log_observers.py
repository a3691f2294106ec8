"""The log observers: lines of text for people, lines of JSON for machines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from twisted.logger import (
    FilteringLogObserver,
    ILogObserver,
    Logger,
    LogLevel,
    LogLevelFilterPredicate,
    eventAsText,
    formatTime,
    jsonFileLogObserver,
)
from zope.interface import implementer, provider

from trafficmock.server.process.log_writer import LOG_BUFFER_BYTES, LogWriter, may_wait

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACE = "trafficmock.server.process.log_observers"

_DROPPED = (
    "{number} lines of this log were dropped: nobody read it, and {limit} bytes waited already "
    "(LOG_BUFFER_BYTES)"
)

LEVELS = ("silent", "error", "warn", "info", "debug")


@implementer(ILogObserver)
class PeopleLogObserver:
    """Writes one line for each event, and the traceback of a failure.

    :param stream: the file to write to.
    """

    def __init__(self, stream: TextIO | LogWriter) -> None:
        self._stream = stream

    def __call__(self, event: dict[str, Any]) -> None:
        level = event.get("log_level", LogLevel.info).name
        text = eventAsText(event, includeTimestamp=False, includeSystem=False)
        self._stream.write(f"{formatTime(event.get('log_time'))} {level:5} {text}\n")
        self._stream.flush()


@provider(ILogObserver)
def silent(event: dict[str, Any]) -> None:
    """Write nothing."""


def make_observer(
    path: str, level: str, *, as_json: bool, at_end: Callable[[Callable[[], None]], object] | None
) -> ILogObserver:
    """Make the observer of the log.

    :param path: a file, or ``-`` for standard output.
    :param level: one of :data:`LEVELS`. Events of libraries are logged from ``warn`` on, and with
        ``debug`` all of them.
    :param as_json: whether to write JSON lines for machines.
    :param at_end: gets what has to be called when the service has ended, if a
        :class:`~trafficmock.server.process.log_writer.LogWriter` writes the lines. With ``None``,
        as for a daemon, whose threads would not outlive its forks, the caller's thread writes.
    :raises OSError: if the file cannot be opened.
    """
    if level == "silent":
        return silent  # type: ignore[no-any-return] # zope.interface: a function may be one
    stream = sys.stdout if path == "-" else Path(path).open("a", encoding="utf-8")  # noqa: SIM115 - open as long as we run
    writer = None if at_end is None or not may_wait(stream) else LogWriter(stream)
    make: Callable[[Any], ILogObserver] = jsonFileLogObserver if as_json else PeopleLogObserver
    write = make(writer or stream)
    if writer is not None and at_end is not None:
        log = Logger(_NAMESPACE, observer=write)
        writer.dropped = lambda number: log.warn(_DROPPED, number=number, limit=LOG_BUFFER_BYTES)
        at_end(writer.finish)
    ours = LogLevel.levelWithName(level)
    others = ours if level == "debug" else max(ours, LogLevel.warn, key=_rank)
    predicate = LogLevelFilterPredicate(defaultLogLevel=others)
    predicate.setLogLevelForNamespace("trafficmock", ours)
    observer: ILogObserver = FilteringLogObserver(write, [predicate])
    return observer


def _rank(level: Any) -> int:
    return list(LogLevel.iterconstants()).index(level)
