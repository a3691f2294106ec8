"""The record of one test in a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from attrs import field, frozen
from msgspec import UNSET, structs

from trafficmock.report.report_settings import LONGEST_ERROR
from trafficmock.testing.redacted_texts import redacted_texts
from trafficmock.testing.session.handlers.http_routes import RouteEntry
from trafficmock.testing.session.session import Session
from trafficmock.texts.wording import url_text
from trafficmock.wire.outbound import ReportResult

_MOST_ASKED = 4 * LONGEST_ERROR
"""The most characters of a section of which the proxy removes the secrets, before it is cut."""


@frozen(kw_only=True)
class FinishedTest:
    """What a test runner knows of a test that has ended.

    :param line: the line of its beginning in the file, from 1.
    :param outcome: ``passed``, ``failed`` or ``skipped``.
    :param error: the text of its failure.
    :param started_at: in epoch milliseconds.
    :param retry: the number of the retry; 0 is the first run.
    :param sections: what else the runner shows of a failure, by title: the errors of its mocks,
        the output of the applications, what was captured.
    """

    title: str
    file: str
    line: int | None = None
    outcome: str
    error: str = field(default="", repr=False)
    started_at: int
    duration_ms: int
    retry: int = 0
    sections: Mapping[str, str] = field(factory=dict, repr=False)


@frozen
class SessionTraffic:
    """What is known of the traffic of a session.

    :param answer: what the proxy has; ``None`` if it could not be asked.
    :param missing: why it could not be asked.
    :param error: the error of the test that the proxy was given with :func:`asked_texts`.
    """

    session: Session
    answer: ReportResult | None
    missing: str = ""
    error: str = field(default="", repr=False)

    def redacted(self, test: FinishedTest) -> tuple[str, dict[str, str]]:
        """Return the error of the test and its sections without secrets."""
        known = self._texts[:1] if test.error == self.error else []
        texts = [text[-_MOST_ASKED:] for text in test.sections.values()]
        asked = [*([] if known else [test.error[:LONGEST_ERROR]]), *texts]
        client = self.session.client
        shown = redacted_texts(asked, client.link.proxy_url, client.identity.token)
        error, *sections = [*known, *shown]
        return error, dict(zip(test.sections, sections, strict=True))

    @property
    def _texts(self) -> Sequence[str]:
        return () if self.answer is None else self.answer.texts

    @property
    def patterns(self) -> list[str]:
        """The URLs of the routes without secrets, in their order."""
        own = _patterns(self.session)
        found = self._texts[1:]
        # Where the proxy could not be asked, a URL is shown without its query.
        return [*found] if len(found) == len(own) else [str(url_text(each)) for each in own]


class _Routed(msgspec.Struct, rename="camel"):
    """What is read of a recorded WebSocket."""

    route_id: str = ""


_routed = msgspec.json.Decoder(_Routed)


def asked_texts(session: Session, error: str) -> list[str]:
    """Return the texts of a record of which the proxy removes the secrets when it is asked for it.

    :param error: the error of the test, as far as it is known.
    """
    return [error[:LONGEST_ERROR], *_patterns(session)]


def _patterns(session: Session) -> list[str]:
    wires = [entry.matcher.wire for entry in _entries(session)]
    return [each.url_glob or (each.url_regex and each.url_regex.source) or "" for each in wires]


def _entries(session: Session) -> list[RouteEntry]:
    return [*session.http.known.values(), *session.sockets.entries]


def record_of_test(traffic: SessionTraffic, test: FinishedTest) -> dict[str, Any]:
    """Return the record of a test, without its HAR."""
    session, answer = traffic.session, traffic.answer
    sockets = [] if answer is None else answer.connections
    met = Counter(_routed.decode(each).route_id for each in sockets)
    record: dict[str, Any] = {
        "id": session.id,
        "title": _text(test.title),
        "file": _text(test.file),
        "outcome": test.outcome,
        "startedAt": test.started_at,
        "durationMs": test.duration_ms,
        "routes": [
            _route(each, pattern, None if each.id in session.http.known else met[each.id])
            for each, pattern in zip(_entries(session), traffic.patterns, strict=True)
        ],
        "requests": [] if answer is None else answer.entries,
        "webSockets": sockets,
        "omitted": 0 if answer is None else answer.omitted,
    }
    if test.retry:
        record["retry"] = test.retry
    if test.line is not None:
        record["line"] = test.line
    error, sections = traffic.redacted(test)
    if test.error:
        record["error"] = _text(error)[:LONGEST_ERROR]
    if test.sections:
        record["sections"] = [
            {"title": _text(title), "text": _text(text)[-LONGEST_ERROR:]}
            for title, text in sections.items()
        ]
    if missing := traffic.missing or (answer is not None and answer.missing):
        record["missing"] = missing
    return record


def _route(entry: RouteEntry, pattern: str, sockets: int | None) -> dict[str, Any]:
    """Return a route, without conditions on headers and bodies, which may have secrets.

    :param pattern: its glob, or the source of its regular expression, without secrets.
    :param sockets: the number of its WebSockets; ``None`` for a route of requests.
    """
    wire = entry.matcher.wire
    if wire.url_glob is not UNSET:
        wire = structs.replace(wire, url_glob=pattern)
    elif wire.url_regex is not UNSET:
        wire = structs.replace(wire, url_regex=structs.replace(wire.url_regex, source=pattern))
    route = {
        "routeId": entry.id,
        "kind": "http" if sockets is None else "websocket",
        "matcher": msgspec.to_builtins(structs.replace(wire, conditions=UNSET)),
        "handler": _text(entry.name),
        "requests": entry.handled if sockets is None else sockets,
    }
    return {**route, "place": _text(entry.place)} if entry.place else route


def _text(text: str) -> str:
    """Return a text without lone surrogates, which JSON in UTF-8 cannot have."""
    return text.encode("utf-8", "backslashreplace").decode()
