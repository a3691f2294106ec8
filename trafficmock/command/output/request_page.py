"""The output of ``trafficmock show`` for an HTTP request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from trafficmock.command.output import list_columns
from trafficmock.command.output.body_text import body_lines
from trafficmock.command.output.list_columns import Entry
from trafficmock.command.output.terminal import Terminal
from trafficmock.texts.message_text import printable

HeaderLines = Sequence[tuple[str, str]]

INDENT = "  "


@frozen
class _Page:
    """The terminal, and whether long bodies are printed whole."""

    terminal: Terminal
    full: bool

    def paint(self, text: str, style: str | None) -> str:
        return self.terminal.paint(text, style)


def write_request(entry: Entry, terminal: Terminal, *, full: bool) -> None:
    """Write all recorded data of a request.

    :param full: whether to print long bodies whole.
    """
    page = _Page(terminal, full)
    for part in (_head, _matches, _request, _overrides, _response, _timeline):
        for line in part(entry, page):
            terminal.line(line)


def heading(text: str, terminal: Terminal) -> Iterator[str]:
    yield ""
    yield terminal.paint(text, "bold")


def facts(pairs: Sequence[tuple[str, object]], terminal: Terminal) -> Iterator[str]:
    """Write names and values, one pair in a line; empty values are left out."""
    for name, value in pairs:
        if value not in (None, ""):
            yield f"{INDENT}{terminal.paint(f'{name:<9}', 'dim')} {printable(str(value))}"


def about_test(entry: Entry) -> list[tuple[str, object]]:
    """Return the facts about an entry's test and its routes."""
    return [
        ("test", entry.get("title")),
        ("file", entry.get("path")),
        ("test id", entry.get("testId")),
        ("route", _route(entry)),
        ("late", _late(entry)),
        ("others", _also_matched(entry.get("alsoMatched", ()))),
        ("doubt", _mixed(entry.get("mixed"))),
        ("context", _other_tests(entry.get("otherTests", 0))),
    ]


def _route(entry: Entry) -> str | None:
    """Return what the entry's route matches and where it stands, else its id."""
    route = entry.get("route")
    if route is None:
        return entry.get("routeId")
    place = f" ({route['place']})" if "place" in route else ""
    return f"{matcher_text(route['matcher'])}{place}"


def matcher_text(matcher: Entry) -> str:
    """Return the conditions of a route, such as ``POST **/charges``."""
    regex = matcher.get("urlRegex")
    parts = [
        "|".join(matcher.get("methods", ())),
        matcher.get("urlGlob", ""),
        f"/{regex['source']}/{regex['flags']}" if regex else "",
        "a predicate" if matcher.get("predicate") else "",
        f"of client {', '.join(clients)}" if (clients := matcher.get("clientIds")) else "",
    ]
    return " ".join(filter(None, parts)) or "any request"


def _also_matched(routes: Sequence[str]) -> str:
    return f"routes of other tests match: {', '.join(routes)}" if routes else ""


def _late(entry: Entry) -> str:
    if "lateOf" in entry:
        return f"it carries the context of a test that had ended: {entry['lateOf']}"
    return "the test had ended" if entry.get("late") else ""


def _mixed(mixed: Entry | None) -> str:
    return f"{mixed['how']} {mixed['remedy']}" if mixed else ""


def _other_tests(count: int) -> str:
    return f"none, while other tests ran: {count}" if count else ""


def claimants(matches: Sequence[Entry], terminal: Terminal) -> Iterator[str]:
    """Write the tests that claim the same request."""
    if matches:
        yield from heading("Claimed by", terminal)
    for match in matches:
        yield f"{INDENT}{printable(match['title'])}"
        place = f"{printable(match['file'])}, " if match["file"] else ""
        yield f"{INDENT * 2}{place}worker {printable(match['workerId'])}"
        yield f"{INDENT * 2}route {printable(matcher_text(match.get('matcher', {})))}"


def _head(entry: Entry, page: _Page) -> Iterator[str]:
    request = entry["request"]
    yield page.paint(f"{printable(request['method'])} {printable(request['url'])}", "bold")
    action = printable(entry["action"])
    yield f"{INDENT}{page.paint(action, list_columns.COLOURS.get(action))}{_result(entry)}"
    known = [
        ("error", _error(entry)),
        ("id", entry["id"]),
        ("time", list_columns.when(entry["timestamp"]).isoformat(" ", "milliseconds")),
        ("client", entry["clientId"]),
        *about_test(entry),
        ("from", entry.get("redirectedFromId")),
        ("leads to", entry.get("redirectedToId")),
    ]
    yield from facts(known, page.terminal)


def _error(entry: Entry) -> str | None:
    """Return the recorded message of the entry's error; ``None`` for no error."""
    message: str | None = entry["outcome"].get("message")
    return message or list_columns.upstream_error(entry) or list_columns.broken_by(entry)


def _result(entry: Entry) -> str:
    response = entry["outcome"].get("response", {})
    parts = (
        f"{response['status']} {response['statusText']}".strip() if response else "",
        "broken off" if response and list_columns.broken_by(entry) is not None else "",
        list_columns.error_code(entry),
        list_columns.took(entry),
    )
    return "".join(f", {printable(part)}" for part in parts if part)


def _matches(entry: Entry, page: _Page) -> Iterator[str]:
    yield from claimants(entry["outcome"].get("matches", ()), page.terminal)


def _request(entry: Entry, page: _Page) -> Iterator[str]:
    yield from heading("Request", page.terminal)
    yield from _message(entry["request"], page)


def _response(entry: Entry, page: _Page) -> Iterator[str]:
    response = entry["outcome"].get("response")
    if response is not None:
        yield from heading("Response", page.terminal)
        yield from _message(response, page)


def _message(message: Entry, page: _Page) -> Iterator[str]:
    for name, value in _headers(message):
        yield f"{INDENT}{page.paint(printable(name), 'cyan')}: {printable(value)}"
    lines = body_lines(message, full=page.full)
    if lines:
        yield ""
    for line in lines:
        yield f"{INDENT}{line}"


def _headers(message: Entry) -> HeaderLines:
    listed = message.get("headersList")
    return list(message.get("headers", {}).items()) if listed is None else listed


def _overrides(entry: Entry, page: _Page) -> Iterator[str]:
    """Write the overrides of ``continue`` as a diff."""
    overrides, request = entry.get("overrides"), entry["request"]
    if overrides is None:
        return
    yield from heading("Changed by the test", page.terminal)
    for name in ("method", "url"):
        if name in overrides:
            yield _changed("-", f"{name}: {request[name]}", page.terminal)
            yield _changed("+", f"{name}: {overrides[name]}", page.terminal)
    if "headers" in overrides or "headersList" in overrides:
        before, after = _headers(request), _headers(overrides)
        yield from (_changed("-", f"{n}: {v}", page.terminal) for n, v in _without(before, after))
        yield from (_changed("+", f"{n}: {v}", page.terminal) for n, v in _without(after, before))
    if "bodyBase64" in overrides:
        yield from (
            _changed("-", line, page.terminal) for line in body_lines(request, full=page.full)
        )
        yield from (
            _changed("+", line, page.terminal) for line in body_lines(overrides, full=page.full)
        )


def _without(these: HeaderLines, others: HeaderLines) -> list[tuple[str, str]]:
    there = {(name.lower(), value) for name, value in others}
    return [(name, value) for name, value in these if (name.lower(), value) not in there]


def _changed(sign: str, text: str, terminal: Terminal) -> str:
    colour = "red" if sign == "-" else "green"
    return f"{INDENT}{terminal.paint(f'{sign} {printable(text)}', colour)}"


def _timeline(entry: Entry, page: _Page) -> Iterator[str]:
    yield from heading("Timeline", page.terminal)
    for event in entry["events"]:
        after = f"+{event['timestamp'] - entry['timestamp']} ms"
        detail = event.get("detail", "")
        repeated = detail == _error(entry)
        what = f"{printable(event['kind'])}  {'' if repeated else printable(detail)}"
        yield f"{INDENT}{page.paint(f'{after:>9}', 'dim')}  {what}"
