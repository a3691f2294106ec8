"""Checks the records of reports that others have made, so that a page can show them.

The fields are those of ``docs/run.schema.json`` that the merge and the page use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_HAR = re.compile(r"har/[A-Za-z0-9._-]+\.har")
"""The path of a HAR within a report."""

_TEXT, _NUMBER, _LIST, _OBJECT = (str,), (int, float), (list,), (dict,)
_TEST = {
    **dict.fromkeys(("id", "title", "file", "outcome"), _TEXT),
    **dict.fromkeys(("startedAt", "durationMs", "omitted"), _NUMBER),
    **dict.fromkeys(("routes", "requests", "webSockets"), _LIST),
}
_ROUTE = {"routeId": _TEXT, "kind": _TEXT, "matcher": _OBJECT, "requests": _NUMBER}
_OPTIONAL = {"sections": _LIST, "error": _TEXT, "missing": _TEXT, "line": _NUMBER, "har": _TEXT}
_SECTION = {"title": _TEXT, "text": _TEXT}
_HTTP = {"id": _TEXT, "timestamp": _NUMBER, "request": _OBJECT, "outcome": _OBJECT, "events": _LIST}
_SOCKET = {"id": _TEXT, "timestamp": _NUMBER, "url": _TEXT, "events": _LIST}
_REFUSED = {"kind": _TEXT, "url": _TEXT, "clientId": _TEXT, "count": _NUMBER}


class BadRecordError(Exception):
    """A record lacks a field, or has another kind of value in it."""


def is_har_path(text: object) -> bool:
    """Return whether a text is the path of a HAR within a report: no other is linked."""
    return isinstance(text, str) and _HAR.fullmatch(text) is not None


def check_record(record: Mapping[str, Any]) -> None:
    """Check a record of a process.

    :raises BadRecordError: it cannot be merged or shown.
    """
    match record.get("type"):
        case "test":
            check_test(record.get("test"))
        case "unowned":
            check_entries(record)
        case "end":
            _each(record.get("refused", []), _REFUSED, "refused")
        case "sections":
            _each(record.get("sections"), _SECTION, "sections")


def check_test(test: object) -> None:
    """Check a test.

    :raises BadRecordError: it cannot be shown.
    """
    known = _fields(test, _TEST, "test")
    for name, kinds in _OPTIONAL.items():
        if name in known and known[name] is not None:
            _fields(known, {name: kinds}, "test")
    if known.get("har") is not None and not is_har_path(known["har"]):
        raise BadRecordError("test.har is no path such as har/NAME.har")
    _each(known["routes"], _ROUTE, "test.routes")
    _each(known.get("sections") or [], _SECTION, "test.sections")
    check_entries(known)


def check_entries(holder: Mapping[str, Any]) -> None:
    """Check the requests and WebSockets of a test, or of no test.

    :raises BadRecordError: one cannot be shown.
    """
    _each(holder.get("requests"), _HTTP, "requests")
    _each(holder.get("webSockets"), _SOCKET, "webSockets")


def check_run(document: Mapping[str, Any]) -> None:
    """Check the document of a run.

    :raises BadRecordError: a page cannot show it.
    """
    _each(document.get("tests"), {}, "tests")
    for test in document["tests"]:
        check_test(test)
    _each(document.get("processes"), {"startedAt": _NUMBER}, "processes")
    _each(document.get("refused"), _REFUSED, "refused")
    _each(document.get("hars", []), {"file": _TEXT, "entries": _NUMBER, "used": _LIST}, "hars")
    unowned = _fields(document, {"unowned": _OBJECT, "totals": _OBJECT, "counts": _OBJECT}, "run")
    check_entries(unowned["unowned"])


def _each(values: object, wanted: Mapping[str, tuple[type, ...]], name: str) -> None:
    if not isinstance(values, list):
        raise BadRecordError(f"{name} is no list")
    for value in values:
        _fields(value, wanted, name)


def _fields(value: object, wanted: Mapping[str, tuple[type, ...]], name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRecordError(f"{name} is no object")
    for key, kinds in wanted.items():
        found = value.get(key)
        if not isinstance(found, kinds) or isinstance(found, bool):
            raise BadRecordError(f"{name}.{key} is missing, or has another kind of value")
    return value
