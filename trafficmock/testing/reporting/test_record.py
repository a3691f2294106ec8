"""The record of one test in a report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from attrs import field, frozen

from trafficmock.redaction.redacted_documents import redacted_record
from trafficmock.report.report_settings import LONGEST_ERROR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trafficmock.redaction.redactor import Redactor
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.session import Session
    from trafficmock.wire.outbound import ReportResult


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
    :param error: the error of the test that the answer has without secrets, in ``texts``.
    """

    session: Session
    answer: ReportResult | None
    missing: str = ""
    error: str = field(default="", repr=False)

    def redacted(self, error: str, redactor: Redactor) -> str:
        """Return the error of the test without secrets, by the marks of the answer if it has it."""
        if self.answer is not None and self.answer.texts and error == self.error:
            return self.answer.texts[0]
        return redactor.text(error)


class _Routed(msgspec.Struct, rename="camel"):
    """What is read of a recorded WebSocket."""

    route_id: str = ""


_routed = msgspec.json.Decoder(_Routed)


def test_record(traffic: SessionTraffic, test: FinishedTest, redactor: Redactor) -> dict[str, Any]:
    """Return the record of a test, without its HAR.

    :param redactor: replaces the secrets in what the proxy was not asked about.
    """
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
            redacted_record(route, redactor)
            for route in (
                *(_route(each, "http", each.handled) for each in session.http.known.values()),
                *(_route(each, "websocket", met[each.id]) for each in session.sockets.entries),
            )
        ],
        "requests": [] if answer is None else answer.entries,
        "webSockets": sockets,
        "omitted": 0 if answer is None else answer.omitted,
    }
    if test.retry:
        record["retry"] = test.retry
    if test.line is not None:
        record["line"] = test.line
    if test.error:
        record["error"] = _text(traffic.redacted(test.error, redactor))[:LONGEST_ERROR]
    if test.sections:
        record["sections"] = [
            {"title": _text(title), "text": _text(redactor.text(text))[-LONGEST_ERROR:]}
            for title, text in test.sections.items()
        ]
    if missing := traffic.missing or (answer is not None and answer.missing):
        record["missing"] = missing
    return record


test_record.__test__ = False  # type: ignore[attr-defined] # pytest would collect it by its name


def _route(entry: RouteEntry, kind: str, requests: int) -> dict[str, Any]:
    route = {
        "routeId": entry.id,
        "kind": kind,
        "matcher": msgspec.to_builtins(entry.matcher.wire),
        "handler": _text(entry.name),
        "requests": requests,
    }
    return {**route, "place": _text(entry.place)} if entry.place else route


def _text(text: str) -> str:
    """Return a text without lone surrogates, which JSON in UTF-8 cannot have."""
    return text.encode("utf-8", "backslashreplace").decode()
