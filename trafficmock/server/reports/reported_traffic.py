"""Selects and cuts what a report shows of the history."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from msgspec import UNSET, Raw

from trafficmock import __version__
from trafficmock.core.effects import AnswerReport
from trafficmock.history import rest_records
from trafficmock.history.entry import HistoryEntry
from trafficmock.history.har.har_export import to_har
from trafficmock.history.query import Query
from trafficmock.history.store import History
from trafficmock.redaction.redacted_documents import redacted_har, redacted_record
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports.slow_work import LARGE, SlowWork
from trafficmock.texts.named_fields import InvalidFieldError
from trafficmock.wire.outbound import ReportResult

MOST_BYTES = 32 * 2**20
"""The largest size of all that one answer has, HAR included; further entries are left out."""

CUT = "the body is longer than a report keeps"


def report_steps(
    history: History, effect: AnswerReport, *, service: str, redactor: Redactor
) -> Iterator[ReportResult | SlowWork[Any] | None]:
    """Collect what a report has about a test, or about no test.

    The requests of a test are those that it owned, that carried its context, and that it had a
    route for when several tests had one.

    :param service: names this start of the service.
    :param redactor: that of the service; the query may name further fields.
    :returns: yields ``None`` after each entry, what is to be done in a thread, and the answer at
        the end.
    """
    query = effect.query
    since = None if query.since is UNSET else query.since
    wanted = None if query.test_id is UNSET else query.test_id
    counts = Raw(rest_records.encode(history.tally.of_worker(effect.connection_id)))
    try:
        redactor = redactor.adding(query.redact or ())
    except InvalidFieldError as error:
        nothing = Raw(_har(()))
        yield ReportResult(query.query_id, [], [], nothing, 0, counts, service, [], "", str(error))
        return
    room, omitted, found = MOST_BYTES, 0, 0
    requests: list[bytes] = []
    sockets: list[bytes] = []
    hars: list[bytes] = []
    for rows, into in ((history.requests, requests), (history.sockets, sockets)):
        for entry in rows.query(Query(from_=since)):
            yield None
            if not _belongs(entry, wanted):
                continue
            found += entry.record.test_id == wanted
            written = entry.to_json()
            record = _record(written, query.body_bytes)
            exchanged = _exchange(entry, query.body_bytes) if into is requests else None
            work = SlowWork(partial(_redacted, record, exchanged, redactor))
            if len(written) > LARGE:
                yield work
            text, exchange = work.result()
            room -= len(text) + len(exchange)
            if room < 0:
                omitted += 1
                continue
            into.append(text)
            if exchange:
                hars.append(exchange)
    shown = SlowWork(lambda: [redactor.text(text) for text in query.texts or ()])
    if sum(map(len, query.texts or ())) > LARGE:
        yield shown
    yield ReportResult(
        query.query_id,
        entries=[Raw(text) for text in reversed(requests)],
        connections=[Raw(text) for text in reversed(sockets)],
        har=Raw(_har(reversed(hars))),
        omitted=omitted,
        counts=counts,
        service=service,
        texts=shown.result(),
        missing=_missing(history, wanted if since is None else None, found),
    )


def _missing(history: History, test_id: str | None, found: int) -> str:
    """Return why the history does not have all that a report shows; empty if it has.

    :param test_id: the test, if all that it had is asked for.
    :param found: the requests and WebSockets of the test that it has.
    """
    if history.capture != "all":
        return f"the proxy's history keeps only: {history.capture} (--history-capture)"
    gone = 0 if test_id is None else history.tally.of_test(test_id) - found
    if gone <= 0:
        return ""
    return (
        f"the proxy's history does not have {gone} of its older requests and WebSockets any more "
        "(--history-limit, --ws-history-limit, --history-bytes)"
    )


def _belongs(entry: HistoryEntry[Any], test_id: str | None) -> bool:
    """Return whether an entry is about a test; for ``None``, whether it is about no test."""
    record = entry.record
    ambiguous = getattr(record.outcome, "matches", UNSET)
    if ambiguous is UNSET:
        ambiguous = getattr(record, "matches", UNSET)
    claimants = {match.test_id for match in ambiguous or ()}
    if test_id is None:
        return record.test_id is UNSET and not claimants
    return record.test_id == test_id or test_id in claimants


def _redacted(
    record: dict[str, Any], exchange: dict[str, Any] | None, redactor: Redactor
) -> tuple[bytes, bytes]:
    """Return the JSON of an entry and of its HAR, which may be missing, without secrets."""
    return (
        _encoded(redacted_record(record, redactor)),
        _encoded(redacted_har(exchange, redactor)) if exchange else b"",
    )


def _record(written: bytes, most: int) -> dict[str, Any]:
    """Return an entry as its JSON has it, without bodies and frames beyond a limit."""
    # The standard library reads and writes lone surrogates, too.
    record: dict[str, Any] = json.loads(written)
    messages = (record.get("request"), record.get("overrides"))
    outcome = record.get("outcome")
    response = outcome.get("response") if isinstance(outcome, dict) else None
    for message in (*messages, response):
        if message is not None:
            _cut_body(message, most)
    for event in record.get("events", ()):
        if len(event.get("data", "")) > most:
            del event["data"]
            event["truncated"] = True
    return record


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _cut_body(message: dict[str, Any], most: int) -> None:
    """Cut the body of a request or a response, and mark it as cut."""
    body = message.get("bodyBase64")
    if not body or len(body) * 3 // 4 <= most:
        return
    # The application may have sent base64 with characters that are none.
    content = b64decode(body)
    if len(content) > most:
        # The beginning of a coded body cannot be searched for secrets.
        is_coded = any(name.lower() == "content-encoding" for name in message.get("headers", ()))
        beginning = b64encode(content[:most]).decode("ascii")
        message["bodyBase64"] = None if is_coded else beginning
        message.setdefault("bodySize", len(content))
        message["truncated"] = True


def _exchange(entry: Any, most: int) -> dict[str, Any]:
    """Return one entry of a HAR, without texts beyond a limit."""
    exchange: dict[str, Any] = to_har(entry, version=__version__)["log"]["entries"][0]
    for part in (exchange["request"].get("postData"), exchange["response"]["content"]):
        if part is not None and len(part.get("text", "")) > most:
            del part["text"]
            part.pop("encoding", None)
            part["comment"] = CUT
    return exchange


def _har(exchanges: Iterable[bytes]) -> bytes:
    creator = b'{"name":"trafficmock","version":"%s"}' % __version__.encode("ascii")
    listed = b",".join(exchanges)
    return b'{"log":{"version":"1.2","creator":%s,"entries":[%s]}}' % (creator, listed)
