"""A known secret, put everywhere in traffic, is in no output of it."""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args
from urllib.parse import quote, urlencode

from attrs import frozen
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.logger import capturedLogs, eventAsText
from twisted.trial.unittest import SynchronousTestCase
from wsproto.connection import CLIENT, Connection
from wsproto.events import BytesMessage, TextMessage

from tests.redaction.samples import KEY
from tests.redaction.test_redactor import NAMES, OPTIONAL, SECRETS
from tests.support.hypothesis_profiles import profile
from tests.telemetry.fakes import Harness
from trafficmock import records
from trafficmock.command.output.request_page import write_request
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.output.websocket_page import write_socket
from trafficmock.core.effects import AnswerReport, Dated, Moment, WriteRecording
from trafficmock.core.state.har_recording import Exchange, HarRecording
from trafficmock.history.har.har_export import to_har
from trafficmock.history.query import Query
from trafficmock.history.rows import Rows
from trafficmock.history.store import History
from trafficmock.proxy.websocket.frame_tap import FrameTap
from trafficmock.redaction import body_codings
from trafficmock.redaction.redacted_documents import redacted_har, redacted_record
from trafficmock.redaction.redactor import Redactor
from trafficmock.redaction.secret_names import SHORT_NAMES
from trafficmock.redaction.url_batches import UrlBatches
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page
from trafficmock.server.event_log import EventLog
from trafficmock.server.reports.reported_traffic import report_steps
from trafficmock.server.reports.written_recordings import recording_steps
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import RecordingQuery, ReportQuery
from trafficmock.wire.outbound import RecordingPiece, ReportResult
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import Content, SerializedRecording
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

ADDED = ["header:x-customer", "query:shop", "json:**.iban", "form:pay", "regex:cust_[A-Za-z0-9]+"]
REDACTOR = Redactor.of(ADDED, KEY)
LIMIT = 10**6


@frozen
class Secret:
    """A secret, and how it is put into traffic.

    :param name: of a field that is secret by its name.
    :param coding: of bodies.
    :param cut: where a message is divided into frames, or a body into pieces.
    """

    value: str
    name: str
    coding: str
    cut: int

    @property
    def url(self) -> str:
        nested = quote(f"https://h.test/?{self.name}={self.value}", safe="")
        query = f"{self.name}={self.value}&shop={self.value}&page=1&next={nested}"
        return f"https://u:{self.value}@h.test/a/cust_{self.value}?{query}#token={self.value}"

    @property
    def text(self) -> str:
        name = "password" if self.name in SHORT_NAMES else self.name
        return (
            f"GET {self.url}: refused, bearer {self.value}, {name}={self.value}\n"
            f"X-Customer: {self.value}\nGET /a?shop={self.value}: cust_{self.value}"
        )

    @property
    def json(self) -> str:
        plain = {"user": "ada", self.name: {"of": [self.value]}, "iban": self.value}
        coded = base64.b64encode(json.dumps(plain).encode()).decode()
        return json.dumps({**plain, "note": self.text, "inner": json.dumps(plain), "data": coded})

    @property
    def headers(self) -> list[tuple[str, str]]:
        basic = base64.b64encode(f"u:{self.value}".encode()).decode()
        return [
            ("authorization", f"Bearer {self.value}"),
            ("proxy-authorization", f"Basic {basic}"),
            ("cookie", f"theme=dark; sid={self.value}"),
            ("set-cookie", f"sid={self.value}; Path=/"),
            ("set-cookie", f"other={self.value}"),
            ("x-customer", self.value),
            (self.name, self.value),
            ("location", self.url),
            ("x-note", f"Bearer {self.value}"),
        ]

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield bodies with their content types."""
        part = 'content-disposition: form-data; name="{}"\r\n\r\n{}\r\n--b'
        parts = [part.format(name, self.value) for name in (self.name, "pay")]
        for kind, text in (
            ("application/json", self.json),
            ("application/x-ndjson", f"{self.json}\n{self.json}"),
            ("text/event-stream", f"event: a\ndata: {self.json}\n\ndata: {self.text[:1]}\n\n"),
            (
                "application/x-www-form-urlencoded",
                urlencode({"user": "ada", self.name: self.value, "pay": self.value}),
            ),
            ("multipart/form-data; boundary=b", "--b\r\n" + "\r\n".join(parts) + "--\r\n"),
            ("text/plain", self.text),
            ("text/plain", base64.b64encode(self.json.encode()).decode()),
            ("application/octet-stream", f"\0sk_live_{self.value}\0"),
        ):
            yield kind, text.encode()
        yield "application/octet-stream", gzip.compress(self.json.encode())

    def into(self, history: History, log: EventLog) -> list[object]:
        """Record traffic with the secret, and return its records."""
        found: list[records.Record] = []
        for number, (kind, content) in enumerate(self.bodies()):
            found += self._exchange(f"r{number}", kind, content)
        found += self._failures()
        found += self._socket()
        for at, record in enumerate(found, 1000):
            if type(record) in history.writers:
                history.record(record, at)
            log.recorded(record)
        return [*found, *(Dated(record, Moment(1.0, 1)) for record in found)]

    def _head(self, kind: str) -> dict[str, Any]:
        pairs = [*self.headers, ("content-type", kind)]
        if self.coding:
            pairs.append(("content-encoding", self.coding))
        return {"headers": dict(pairs), "headers_list": pairs}

    def _exchange(self, name: str, kind: str, content: bytes) -> Iterator[records.Record]:
        coded = body_codings.encode(content, [self.coding] if self.coding else [])
        raw, head = body.from_bytes(coded), self._head(kind)
        owner = records.Owner("t1", "r1", "buys", "a.py")
        asked = SerializedRequest(self.url, "POST", body_base64=raw, **head)
        answer = SerializedResponse(200, "OK", body_base64=raw, url=self.url, **head)
        yield records.RequestSeen(name, "shop", asked)
        if name in ("r0", "r2"):
            # A streamed mock, in two pieces that divide the secret.
            yield records.RequestFulfilled(name, owner, answer, body_pending=True)
            at = min(len(coded), content.find(self.value.encode()) + self.cut)
            yield records.StreamPieceSent(name, at)
            yield records.StreamPieceSent(name, len(coded) - at)
            yield records.StreamEnded(name, answer, self.text)
            return
        plain = body.from_bytes(content)
        changes = SerializedOverrides(self.url, headers=dict(self.headers), body_base64=plain)
        yield records.RequestContinued(name, owner, changes)
        yield records.ResponseReported(name, answer, None)

    def _failures(self) -> Iterator[records.Record]:
        asked = SerializedRequest(self.url, "GET", dict(self.headers), body.NULL)
        for name in ("f1", "f2", "f3"):
            yield records.RequestSeen(name, "shop", asked)
        yield records.RequestFailed("f1", None, "no_decision", self.text, None)
        yield records.RequestPassedThrough("f2")
        error = SerializedError("Error", self.text, self.text, "ECONNREFUSED")
        yield records.ResponseReported("f2", None, error)
        yield records.RequestAborted("f3", None, "failed", self.text)

    def _socket(self) -> list[records.Record]:
        found: list[records.Record] = [records.SocketSeen("ws", "shop", self.url, [])]
        found.append(records.SocketPassedThrough("ws"))
        tap = FrameTap("ws", found.append)
        tap.listen(b"")
        sender = Connection(CLIENT)
        for text in (self.json, self.text):
            at = text.find(self.value) + self.cut
            for data in (text, text.encode()):
                # One message of two frames.
                made: Any = TextMessage if isinstance(data, str) else BytesMessage
                tap.from_page(sender.send(made(data=data[:at], message_finished=False)))
                tap.from_page(sender.send(made(data=data[at:])))
        frames = [each for each in found if isinstance(each, records.SocketActivity)]
        if [each.data for each in frames if not each.is_base64] != [self.json, self.text]:
            raise AssertionError(f"the proxy reads {len(frames)} other messages")
        return found


def outputs(history: History) -> Iterator[str]:
    """Yield all that is written or printed of a history."""
    redactor = REDACTOR
    tests = []
    listed: tuple[tuple[Rows[Any], Callable[..., None]], ...] = (
        (history.requests, write_request),
        (history.sockets, write_socket),
    )
    for rows, write in listed:
        for entry in rows.query(Query()):
            record = redacted_record(json.loads(entry.to_json()), redactor)
            yield json.dumps(record)
            yield json.dumps(redacted_record(json.loads(entry.summary_json()), redactor))
            written = io.StringIO()
            write(record, Terminal(out=written, width=None, coloured=False), full=True)
            yield written.getvalue()
            yield repr(entry) + repr(entry.record)
            if rows is history.requests:
                yield json.dumps(redacted_har(to_har(entry, version="1"), redactor))
    for test_id in ("t1", None):
        query = ReportQuery("q", LIMIT, test_id or UNSET)
        effect = AnswerReport("c", query)
        *_, answer = report_steps(history, effect, service="s", redactor=redactor)
        assert isinstance(answer, ReportResult)
        tests.append(json.loads(encode(answer)))
        yield json.dumps(tests[-1]) + repr(answer)
    yield saved_page(run_document([]) | {"unowned": {"requests": tests[1]["entries"]}})


def exported(found: list[object]) -> Iterator[str]:
    """Yield all that is exported by OTLP."""
    urls = UrlBatches(REDACTOR, REDACTOR.url)
    harness = Harness(most_events=99, redact_urls=urls, redact_text=REDACTOR.text)
    harness.record(*(each for each in found if type(each) in harness.writers))
    # What is open is exported as it is.
    for part in harness.exporter.parts:
        part.end_all(harness.now())
    spans = harness.written()
    if len(spans) < len(
        {each.request_id for each in found if isinstance(each, records.RequestSeen)}
    ):
        raise AssertionError(f"only {len(spans)} spans were exported")
    yield from (each.decode("latin-1") for each in spans)


def recorded(found: list[object]) -> Iterator[str]:
    """Yield the HARs that a test records, with the files of their bodies."""
    seen = {each.request_id: each for each in found if isinstance(each, records.RequestSeen)}
    ends = [each for each in found if isinstance(each, records.ResponseReported)]
    for content in get_args(Content):
        recording = HarRecording(SerializedRecording(content, redact=ADDED))
        for end in ends:
            failure = "" if end.error is None else end.error.message
            exchange = Exchange(seen[end.request_id].request, end.response or failure, 0, 5)
            recording.exchanges.append(exchange)
        query = RecordingQuery("q", "t", "r")
        effect = WriteRecording("w", query, recording.options, tuple(recording.exchanges))
        for piece in recording_steps(effect, Redactor()):
            if isinstance(piece, RecordingPiece):
                yield body.to_bytes(piece.body_base64).decode("latin-1")
                yield body.to_text(piece.body_base64).decode()
        yield repr(recording)


_CODED = re.compile(r"[A-Za-z0-9+/]{8,}={0,2}")


def within(text: str, nested: int = 4) -> Iterator[str]:
    """Yield a text, and what is coded in it: base64, and bodies in any coding."""
    yield text
    for found in _CODED.findall(text) if nested else ():
        try:
            content = base64.b64decode(found)
        except (binascii.Error, ValueError):
            continue
        for coding in ("", *OPTIONAL):
            try:
                plain = body_codings.decode(content, [coding] if coding else [])
            except body_codings.UnreadableError:
                continue
            if plain:
                yield from within(plain.decode("latin-1"), nested - 1)


PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""All examples are of one size, so that there is nothing to make smaller."""

CASES = st.builds(
    Secret,
    SECRETS.filter(lambda text: len(text) >= 16),
    NAMES,
    st.sampled_from(["", *OPTIONAL]),
    st.integers(1, 11),
)


class KnownSecretTests(SynchronousTestCase):
    """What was put in does not come out."""

    @settings(profile(10), phases=PHASES)
    @given(CASES)
    def test_outputs(self, secret: Secret) -> None:
        """Neither in REST, pages, HARs, reports, recordings, exports, the log, nor in reprs."""
        history = History()
        with capturedLogs() as said:
            made = secret.into(history, EventLog(debug=True, redactor=REDACTOR))
        self.assertTrue(said)
        self._check(secret, *map(eventAsText, said), *map(repr, made), *outputs(history))
        self._check(secret, *exported(made), *recorded(made))

    @settings(profile(4), phases=PHASES)
    @given(CASES)
    def test_memory(self, secret: Secret) -> None:
        """A history that redacts does not even have it."""
        history = History(redactor=REDACTOR)
        secret.into(history, EventLog(redactor=REDACTOR))
        for rows in (history.requests, history.sockets):
            self._check(secret, *(entry.to_json().decode() for entry in rows.query(Query())))

    def _check(self, secret: Secret, *texts: str) -> None:
        for text in texts:
            for each in within(text):
                at = each.find(secret.value)
                if at >= 0:
                    self.fail(f"{each[max(0, at - 200) : at + 100]!r}")
