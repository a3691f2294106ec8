"""The headers between the proxy and attached processes."""

import datetime as dt
import ssl
from base64 import b64decode, b64encode
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.authority import open_authority
from trafficmock.proxy.http1.attached_clients import (
    HEADERS,
    AttachedProcess,
    attached_process,
    authority_line,
    failure_lines,
    lacks_origin,
    notice,
    opens_for_agent,
    sent_from,
    understands_failures,
)
from trafficmock.proxy.http1.context_headers import context_id
from trafficmock.proxy.http1.forwarded_headers import end_to_end
from trafficmock.proxy.http1.heads import BadMessageError, parse_request
from trafficmock.wire.local_reports import ContextSeen, RequestIgnored
from trafficmock.wire.payloads.request_origin import RequestOrigin


class AttachedClientsTests(SynchronousTestCase):
    """What is read, written and kept."""

    def test_read(self) -> None:
        """An attached process is known by its headers, also by an empty one."""
        head = parse_request(b"CONNECT a:1 HTTP/1.1\r\ntrafficmock-agent: python")
        self.assertTrue(opens_for_agent(head))
        self.assertFalse(understands_failures(head))
        self.assertEqual(failure_lines(head, "aborted", ""), [])
        head = parse_request(b"GET / HTTP/1.1\r\ntrafficmock-context:")
        self.assertTrue(understands_failures(head))
        self.assertFalse(opens_for_agent(head))

    @given(st.binary() | st.text().map(lambda text: b64encode(text.encode())))
    def test_any_origin(self, value: bytes) -> None:
        """Where a request was sent from is only shown, so what cannot be read is left out."""
        self.assertIs(sent_from(value), UNSET)

    def test_origin(self) -> None:
        """Keys that it does not know are left out."""
        coded = b64encode(b'{"kind":"thread","atImport":true,"later":1}')
        self.assertEqual(sent_from(coded), RequestOrigin(kind="thread", at_import=True))

    def test_process(self) -> None:
        """A process says its id and its command line; what cannot be read is left out."""
        coded = b64encode("python caf\u00e9.py".encode())
        for value, wanted in (
            (b"python", AttachedProcess()),
            (b"python; pid=17; command=" + coded, AttachedProcess(17, "python caf\u00e9.py")),
            (b"python;pid=0x1;command=%%%", AttachedProcess()),
            (b"python; pid=99999999999", AttachedProcess()),
            (b"python; command=" + b64encode(b"\xff"), AttachedProcess(None, "\ufffd")),
        ):
            head = parse_request(b"CONNECT a:1 HTTP/1.1\r\ntrafficmock-agent: " + value)
            found = attached_process(head)
            self.assertEqual((found, found and found.tells), (wanted, False), value)
        telling = parse_request(b"CONNECT a:1 HTTP/1.1\r\ntrafficmock-agent: python; seen-contexts")
        found = attached_process(telling)
        self.assertEqual((found, found and found.tells), (AttachedProcess(), True))
        origins = parse_request(b"CONNECT a:1 HTTP/1.1\r\ntrafficmock-agent: python; origins")
        self.assertEqual(attached_process(origins), AttachedProcess(tells_origins=True))
        tests = parse_request(b"CONNECT a:1 HTTP/1.1\r\ntrafficmock-agent: python; tests; pid=7")
        self.assertEqual(attached_process(tests), AttachedProcess(7, runs_tests=True))
        self.assertIsNone(attached_process(parse_request(b"CONNECT a:1 HTTP/1.1\r\na: b")))

    def test_no_origin(self) -> None:
        """An attached process's request without a context, which does not say where it is from."""
        for lines, wanted in (
            ("trafficmock-context:", True),
            ("trafficmock-context:\r\ntrafficmock-origin: e30=", False),
            ("trafficmock-context: a", False),
            ("a: b", False),
        ):
            head = parse_request(f"GET / HTTP/1.1\r\n{lines}".encode())
            self.assertIs(lacks_origin(head), wanted, lines)

    def test_context(self) -> None:
        """The context that it names counts first; an invalid one does not count."""
        for named, wanted in ((b"a", "a"), (b"", "b"), (b"a b", "b"), (b"x" * 65, "b")):
            block = b"GET / HTTP/1.1\r\nbaggage: trafficmock.test=b\r\ntrafficmock-context: "
            self.assertEqual(context_id(parse_request(block + named)), wanted, named)

    def test_notice(self) -> None:
        """What a CONNECT tells in the place of a tunnel."""
        for target, fields, wanted in (
            (b"a:443", b"seen\r\ntrafficmock-context: c", ContextSeen("c")),
            (b"a:443", b"ignored", RequestIgnored("CONNECT", "https://a:443/")),
            (
                b"[::1]:80",
                b"ignored\r\ntrafficmock-context: c",
                RequestIgnored("CONNECT", "http://[::1]:80/", "c"),
            ),
        ):
            head = parse_request(
                b"CONNECT %s HTTP/1.1\r\ntrafficmock-notice: %s" % (target, fields)
            )
            self.assertEqual(notice(head), wanted)
        self.assertIsNone(notice(parse_request(b"CONNECT a:1 HTTP/1.1\r\na: b")))
        unknown = parse_request(b"CONNECT a:1 HTTP/1.1\r\ntrafficmock-notice: other")
        self.assertRaises(BadMessageError, notice, unknown)

    def test_kept(self) -> None:
        """None of the headers goes on."""
        lines = b"".join(b"\r\n%s: x" % name for name in sorted(HEADERS))
        head = parse_request(b"GET / HTTP/1.1\r\na: b" + lines)
        self.assertEqual(end_to_end(head), [(b"a", b"b")])

    def test_authority(self) -> None:
        """The authority is named in DER."""
        pem = open_authority(Path(self.mktemp()), dt.datetime.now(dt.UTC)).pem
        name, _, value = authority_line(pem).partition(b": ")
        self.assertEqual(name, b"trafficmock-authority")
        self.assertEqual(b64decode(value.strip()), ssl.PEM_cert_to_DER_cert(pem.decode()))

    def test_failure(self) -> None:
        """A text stays within its line."""
        head = parse_request(b"GET / HTTP/1.1\r\ntrafficmock-context: a")
        self.assertEqual(
            failure_lines(head, "aborted", "a\r\nb \u20ac"),
            [(b"trafficmock-failure", b"aborted a%0D%0Ab%20%E2%82%AC")],
        )
