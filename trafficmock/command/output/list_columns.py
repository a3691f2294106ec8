"""The columns of the lists of HTTP requests and WebSockets, and their cells and colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from trafficmock.command.output.table import Cell, Column
from trafficmock.command.output.terminal_text import cut_middle
from trafficmock.texts.message_text import printable

Entry = Mapping[str, Any]

LEAST_ID = 8
"""The fewest characters of an id in a list."""

COLOURS = {
    "fulfill": "green",
    "matched": "green",
    "continue": "cyan",
    "abort": "magenta",
    "passthrough": "yellow",
    "error": "red",
    "pending": "dim",
}
"""Colours of actions. Passthrough has a warning colour: it reached the real network."""

_CODE = re.compile(r"\b(?!ERROR\b)(?:E[A-Z]{3,}|[A-Z]+(?:_[A-Z0-9]+)+)\b")
"""An error code in the message of a failed connection, such as ``ECONNREFUSED``."""

_ID = Column(title="ID", least=LEAST_ID, usual=LEAST_ID)
_TIME = Column(title="TIME", usual=8, drop=2)
_CLIENT = Column(title="CLIENT", least=6, usual=8, drop=3)
_URL = Column(title="URL", least=24, usual=50, shorten=cut_middle)
_TEST = Column(title="TEST", least=10, usual=24, drop=4)
_FRACTIONAL = 1000

REQUEST_COLUMNS = (
    _ID,
    _TIME,
    Column(title="METHOD", usual=6),
    Column(title="STATUS", least=6, usual=6),
    Column(title="ACTION", usual=11),
    Column(title="TOOK", usual=7, drop=5, right=True),
    _CLIENT,
    _URL,
    _TEST,
)
SOCKET_COLUMNS = (
    _ID,
    _TIME,
    Column(title="OUTCOME", usual=11),
    Column(title="CLOSED", least=6, usual=6),
    _CLIENT,
    _URL,
    _TEST,
)


def request_row(entry: Entry, shown_id: str) -> Sequence[Cell]:
    """Make the cells of an HTTP request, from an entry or a summary."""
    action = str(entry["action"])
    return (
        Cell(printable(shown_id), "bold"),
        Cell(clock(entry["timestamp"]), "dim"),
        Cell(printable(entry["request"]["method"])),
        _status(entry),
        Cell(printable(action), COLOURS.get(action)),
        Cell(took(entry)),
        Cell(printable(entry["clientId"])),
        Cell(printable(entry["request"]["url"])),
        Cell(printable(owner(entry)), "dim"),
    )


def socket_row(entry: Entry, shown_id: str) -> Sequence[Cell]:
    """Make the cells of a WebSocket, from an entry or a summary."""
    outcome = str(entry["outcome"])
    return (
        Cell(printable(shown_id), "bold"),
        Cell(clock(entry["timestamp"]), "dim"),
        Cell(printable(outcome), COLOURS.get(outcome)),
        Cell(closing(entry)),
        Cell(printable(entry["clientId"])),
        Cell(printable(entry["url"])),
        Cell(printable(owner(entry)), "dim"),
    )


def shortened(ids: Iterable[str], *, whole: bool = False) -> dict[str, str]:
    """Shorten ids to unique beginnings of :data:`LEAST_ID` characters or more.

    :param whole: whether to leave the ids whole.
    :returns: the shown form by id.
    """
    ordered = sorted(set(ids))
    shown = {}
    for before, entry_id, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        needed = max(_common(before, entry_id), _common(entry_id, after)) + 1
        shown[entry_id] = entry_id if whole else entry_id[: max(LEAST_ID, needed)]
    return shown


def clock(timestamp: int) -> str:
    """Format epoch milliseconds as local time of day."""
    return when(timestamp).strftime("%H:%M:%S")


def when(timestamp: int) -> datetime:
    """Convert epoch milliseconds to local time."""
    return datetime.fromtimestamp(timestamp / 1000).astimezone()


def took(entry: Entry) -> str:
    """Format the duration of a request; ``open`` while the body of its response arrives."""
    if entry.get("outcome", {}).get("response", {}).get("bodyPending"):
        return "open"
    return duration(entry.get("durationMs"))


def duration(milliseconds: int | None) -> str:
    """Format a duration: ``12 ms`` or ``3.4 s``; an empty text for ``None``."""
    if milliseconds is None:
        return ""
    if milliseconds < _FRACTIONAL:
        return f"{milliseconds} ms"
    return f"{milliseconds / 1000:.1f} s"


def owner(entry: Entry) -> str:
    """Return the title of an entry's test, or of those that claim it together.

    Of pytest's node ids, the part behind the file is used. ``late:`` precedes a test that had ended
    when the application sent the request, unless a running one got it.
    """
    outcome = entry.get("outcome")
    matches = outcome.get("matches") if isinstance(outcome, Mapping) else entry.get("matches")
    titles = [entry["title"]] if "title" in entry else [match["title"] for match in matches or ()]
    names = " | ".join(dict.fromkeys(_without_file(str(title)) for title in titles))
    return f"late: {names}" if entry.get("late") and "lateOf" not in entry else names


def upstream_error(entry: Entry) -> str | None:
    """Return the error of the request to the server, from an entry or a summary.

    :returns: ``None`` if it did not fail, or a later attempt was answered.
    """
    for event in reversed(entry.get("events", ())):
        if event["kind"] == "response":
            return None
        if event["kind"] == "upstream_error":
            return str(event.get("detail", ""))
    error = entry.get("upstreamError")
    return None if error is None else str(error)


def broken_by(entry: Entry) -> str | None:
    """Return why the answer broke off, from an entry or a summary; ``None`` if it did not."""
    events = entry.get("events", ())
    found = (str(each.get("detail", "")) for each in events if each["kind"] == "broken_off")
    return next(found, entry.get("broken"))


def error_code(entry: Entry) -> str:
    """Return the error code of a request; an empty text if there is no error."""
    outcome = entry["outcome"]
    code = outcome.get("errorCode") or outcome.get("code")
    failed = upstream_error(entry)
    if code or failed is None:
        return str(code or "")
    found = _CODE.search(failed)
    return found[0] if found else "unreachable"


def has_status(entry: Entry, wanted: str | None) -> bool:
    """Return whether an entry's response has a status.

    :param wanted: a status, or a class such as ``4xx``; ``None`` for all entries.
    """
    if wanted is None:
        return True
    status = str(entry["outcome"].get("response", {}).get("status", ""))
    return status[:1] == wanted[:1] if wanted.lower().endswith("xx") else status == wanted


def closing(entry: Entry) -> str:
    """Return the close code of a WebSocket, else its error code; an empty text while it is open."""
    if "close" in entry:
        return str(entry["close"].get("code", "yes"))
    return printable(entry.get("errorCode", ""))


def _status(entry: Entry) -> Cell:
    outcome = entry["outcome"]
    if "response" in outcome and broken_by(entry) is not None:
        # The application did not get what has this status.
        return Cell("broken", "red")
    if "response" in outcome:
        status = outcome["response"]["status"]
        return Cell(str(status), "red" if status >= 400 else None)  # noqa: PLR2004 - RFC 9110
    return Cell(printable(error_code(entry)), "red")


def _without_file(title: str) -> str:
    file, _, test = title.partition("::")
    return test if test and file.endswith(".py") else title


def _common(one: str, other: str) -> int:
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))
