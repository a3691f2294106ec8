"""Whatever grows with what comes from outside grows in proportion to it."""

import json
import zlib
from collections.abc import Callable
from typing import Any

from attrs import frozen
from msgspec import Raw
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.trial.unittest import SynchronousTestCase

from tests.support.decoded_bodies import decoded
from tests.support.growth import GrowthMixin
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.errors import TrafficMockError
from trafficmock.history.har.har_cookies import sent_cookies, set_cookie, split_set_cookie
from trafficmock.history.search import fold_in_windows
from trafficmock.history.stored_messages import folded_windows
from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.http.etags import is_current
from trafficmock.http.responses import RestError
from trafficmock.matching import RouteIndex, compile_glob, compile_matcher
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.matching.patterns.regex import compile_regex
from trafficmock.proxy.http1.body_readers import ChunkReader
from trafficmock.proxy.http1.heads import parse_request, parse_response, tokens
from trafficmock.proxy.request_target import absolute
from trafficmock.proxy.transfer.body_capture import BodyCapture, header_map
from trafficmock.proxy.transfer.request_rewriting import mock_bytes
from trafficmock.proxy.websocket.frame_stream import FrameStream
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.rest.path_segments import decode_segment
from trafficmock.server.rest.query_parameters import read_list_request
from trafficmock.server.websocket.data_frames import MessageReader
from trafficmock.server.websocket.link import WebSocketLimits
from trafficmock.server.websocket.send_queue import SendQueue
from trafficmock.server.websocket.write_coalescing import WriteCoalescer
from trafficmock.testing.session.worker_client import decode_for_worker
from trafficmock.texts.named_fields import NamedFields
from trafficmock.wire.codec import decode
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedResponse

PAGE = REPOSITORY / "docs" / "limits.md"


@frozen
class Row:
    """Something that reads what comes from outside.

    :param place: as the table of the limits' page names it.
    :param make: gives inputs of a size.
    :param work: reads one.
    :param size: of the smaller input.
    """

    place: str
    make: Callable[[int], Any]
    work: Callable[[Any], object]
    size: int


def tolerant(work: Callable[[Any], object]) -> Callable[[Any], object]:
    """Refusing counts as reading."""

    def call(given: Any) -> None:
        try:
            work(given)
        except (TrafficMockError, RestError):
            return

    return call


def pieces(data: bytes, length: int) -> list[bytes]:
    return [data[at : at + length] for at in range(0, len(data), length)]


def feed_chunks(parts: list[bytes]) -> None:
    reader = ChunkReader()
    for part in parts:
        reader.feed(part)


def copy_all(parts: list[bytes]) -> None:
    copy = BodyCapture(0)
    for part in parts:
        copy.add(part)
    copy.take()


def read_frames(parts: list[bytes]) -> None:
    reader = MessageReader(1 << 30)
    for part in parts:
        reader.feed(part)
        while reader.next() is not None:
            pass


class Nobody:
    """Is told what nobody needs to know."""

    def message(self, *_: object) -> None:
        """Take it."""

    def closed(self, *_: object, **__: object) -> None:
        """Take it."""

    def send_queue_backlogged(self) -> None:
        """Take it."""

    def send_queue_drained(self) -> None:
        """Take it."""

    def send_queue_overflowed(self, queued: int) -> None:
        """Take it."""


def hear_frames(parts: list[bytes]) -> None:
    nobody: Any = Nobody()
    clock = Clock()
    frames = FrameStream(StringTransport(), nobody, clock, client=True, longest=1 << 30)
    for part in parts:
        frames.data_received(part)
        while clock.getDelayedCalls():
            clock.advance(NEXT_TURN_SECONDS)


class Pulling:
    """A transport that asks for the next piece when it is told to."""

    producer: Any = None

    def registerProducer(self, producer: Any, **_: object) -> None:
        self.producer = producer

    def unregisterProducer(self) -> None:
        self.producer = None

    def write(self, data: bytes) -> None:
        """Take it."""


def send_all(number: int) -> None:
    transport, clock = Pulling(), Clock()
    limits = WebSocketLimits(send_queue_bytes=1 << 30, high_water=1 << 20, low_water=1 << 16)
    nobody: Any = Nobody()
    coalescer = WriteCoalescer(clock)
    send_queue = SendQueue(transport, write=None, limits=limits, coalescer=coalescer, owner=nobody)
    for _ in range(number):
        send_queue.add((b"x" * 100,))
    send_queue.flush()
    while transport.producer is not None:
        transport.producer.resumeProducing()
    send_queue.discard()


def empty_blocks(number: int) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return b"\x00\x00\x00\xff\xff" * number + engine.compress(b"") + engine.flush()


def message(**fields: Any) -> bytes:
    request = {"url": "http://a/", "method": "POST", "headers": {}, "bodyBase64": None} | fields
    start = {"type": "request:start", "requestId": "r", "clientId": "c", "request": request}
    return json.dumps(start).encode()


def judge(url: str) -> None:
    index = RouteIndex()
    for glob in ("**/ab*{c,d}e", "http://a.test/*/x/**", "**/*a*b*c*d", "http://a.test/**/b"):
        index.add(glob, compile_matcher(url_glob=glob))
    index.add("regex", compile_matcher(url_regex=("(a|b)*c$", "")))
    index.judge(url, "GET", "c")


def mock(value: dict[str, str]) -> None:
    response = SerializedResponse(200, "OK", value, body.from_bytes(b"x"))
    mock_bytes(response, parse_request(b"GET / HTTP/1.1\r\nHost: a"), close=False)


def quoted(size: int) -> Raw:
    return Raw(b'"' + b"QUJD" * size + b"-" + b'"')


WHOLE_FRAME = b"\x82\x80\x00\x00\x00\x00"
FRAGMENT = b"\x00\x01a"

ROWS = (
    Row(
        "Head of a request or answer",
        lambda n: b"GET / HTTP/1.1\r\n" + b"A: %s\r\n" % (b"b" * (n // 400)) * 400 + b"Host: a",
        tolerant(parse_request),
        500_000,
    ),
    Row(
        "Head of a request or answer",
        lambda n: b"HTTP/1.1 200 OK\r\nSet-Cookie: " + b", ;=" * n,
        tolerant(parse_response),
        250_000,
    ),
    Row("Head of a request or answer", lambda n: b"a, " * n, tokens, 50_000),
    Row(
        "Repeated header lines",
        lambda n: [(b"A", b"b" * 10)] * n,
        header_map,
        10_000,
    ),
    Row("URL of a request", lambda n: b"http://a.test/" + b"a." * n + b"'", absolute, 50_000),
    Row("URL of a request", lambda n: f"http://a.test/{'ab/' * n}c", judge, 5_000),
    Row("URL of a request", lambda n: "%41" * n + "%", decode_segment, 75_000),
    Row("Chunked body", lambda n: [b"1\r\na\r\n" * n], feed_chunks, 5_000),
    Row("Chunked body", lambda n: pieces(b"1\r\na\r\n" * n, 1), feed_chunks, 1_000),
    Row("Chunked body", lambda n: [b'1;a="b";c=d\r\na\r\n' * n], feed_chunks, 2_500),
    Row(
        "Compressed body",
        empty_blocks,
        lambda coded: decoded([(b"Content-Encoding", b"deflate")], coded, 0),
        75_000,
    ),
    Row("Copy of a body", lambda n: [b"a"] * n, copy_all, 12_500),
    Row("Copy of a body", lambda n: [b"a" * 500] * n, copy_all, 3_000),
    Row("Frames of a WebSocket", lambda n: pieces(b"\x82\x00" * n, 1 << 16), hear_frames, 1_250),
    Row(
        "Frames of a WebSocket",
        lambda n: pieces(b"\x02\x01a" + FRAGMENT * n + b"\x80\x00", 1 << 16),
        hear_frames,
        1_000,
    ),
    Row("Messages on `/ws`", lambda n: pieces(WHOLE_FRAME * n, 1 << 16), read_frames, 7_500),
    Row(
        "Messages on `/ws`",
        lambda n: pieces(b"\x82\xff" + n.to_bytes(8, "big") + b"\0\0\0\0" + b"a" * n, 100),
        read_frames,
        250_000,
    ),
    Row("Messages on `/ws`", int, send_all, 2_500),
    Row("JSON of a message", lambda n: message(bodyBase64="QUJD" * n), tolerant(decode), 75_000),
    Row("JSON of a message", lambda n: message(bodyBase64="\\" * n), tolerant(decode), 75_000),
    Row("JSON of a message", lambda n: message(x=[[]] * n), tolerant(decode), 25_000),
    Row("JSON of a message", lambda n: b"[" * n + b"]" * n, tolerant(decode), 50_000),
    Row(
        "JSON of a message",
        lambda n: message(headers={f"h{i}": "\ud800" for i in range(n)}),
        tolerant(decode),
        1_250,
    ),
    Row("JSON of a message", lambda n: b'{"type": %s}' % (b"1" * n), tolerant(decode), 75_000),
    Row(
        "JSON of a message",
        lambda n: b'{"type":"request:observed","x":"\\ud800%s"}' % (b"\\ud800" * n),
        decode_for_worker,
        7_500,
    ),
    Row("Base64 of a body", quoted, body.to_bytes, 75_000),
    Row(
        "Search in the history",
        lambda n: bytes(quoted(n)),
        lambda t: list(folded_windows(t, 5)),
        75_000,
    ),
    Row(
        "Search in the history", lambda n: "aB" * n, lambda t: list(fold_in_windows(t, 5)), 500_000
    ),
    Row("Cookies of a HAR", lambda n: "a=b, " * n + " " * n, split_set_cookie, 12_500),
    Row("Cookies of a HAR", lambda n: ", \t" * n + "," * n, split_set_cookie, 12_500),
    Row("Cookies of a HAR", lambda n: "a=b; expires=x; " * n, sent_cookies, 1_250),
    Row("Cookies of a HAR", lambda n: "a=b; path=/" * n, set_cookie, 5_000),
    Row("Query of REST", lambda n: "q=%41&" * n, tolerant(read_list_request), 5_000),
    Row("Query of REST", lambda n: "limit=" + "9" * n, tolerant(read_list_request), 125_000),
    Row("Query of REST", lambda n: '"a", "b' * n, lambda text: is_current(text, '"x"'), 50_000),
    Row(
        "Mock of a test",
        lambda n: {f"h{i}": "a" * 10 for i in range(n)},
        mock,
        1_250,
    ),
    Row("Pattern of a route", lambda n: "http://a.test" + "/*" * n, compile_glob, 250),
    Row("Pattern of a route", lambda n: "http://a.test/" + "{a,b}" * n, compile_glob, 250),
    Row("Pattern of a route", lambda n: "http://a.test/" + "\\a" * n, compile_glob, 1_000),
    Row("Pattern of a route", lambda n: "http://a/" + "a/" * n, compile_glob, 7_500),
    Row("Pattern of a route", lambda n: "(?:a|b)" * n, lambda r: compile_regex(r, ""), 70),
    Row(
        "Patterns of hosts: allow lists, origins, options",
        lambda n: [f"*{'a*' * 20}.test"] * n,
        tolerant(read_allow_list),
        100,
    ),
    Row(
        "Patterns of hosts: allow lists, origins, options",
        lambda n: "a" * n + ":80",
        read_host_pattern("*" + "a*" * 20 + "b").matches,
        25_000,
    ),
    Row(
        "`redact` of a message or option",
        lambda n: [f"json:a{number}.b" for number in range(n)],
        tolerant(NamedFields.of),
        40,
    ),
    Row("Texts and HARs to be redacted", lambda n: '{"' * n, Redactor().text, 2_500),
    Row("Texts and HARs to be redacted", lambda n: "password=a&" * n, Redactor().text, 500),
)


class GrowthTests(GrowthMixin, SynchronousTestCase):
    """Four times the input takes about four times the time."""

    def test_linear(self) -> None:
        """No place that reads what comes from outside takes more than that."""
        for number, row in enumerate(ROWS):
            try:
                self.assert_linear(row.make, row.work, row.size)
            except AssertionError as error:
                raise AssertionError(f"row {number}, {row.place}: {error}") from None

    def test_documented(self) -> None:
        """The table of the limits' page names each of these places, and no other."""
        table = PAGE.read_text().partition("| Place |")[2].partition("\n\n")[0]
        rows = table.splitlines()[2:]
        documented = {row.split("|")[1].strip() for row in rows}
        self.assertEqual(documented, {row.place for row in ROWS})
