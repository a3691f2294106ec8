"""What an attached process demands of a server, in the header of its CONNECT."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import BadMessageError, RequestHead, parse_request
from trafficmock.proxy.http1.server_demands import (
    ServerDemands,
    reason_to_leave_alone,
    server_demands,
)

PIN = "ab" * 32


def head(*lines: bytes) -> RequestHead:
    return parse_request(b"\r\n".join([b"CONNECT a.test:443 HTTP/1.1", b"Host: a.test", *lines]))


class DemandTests(SynchronousTestCase):
    """Each part is optional."""

    def test_read(self) -> None:
        for text, found in (
            ("verify=0", ServerDemands(verifies=False)),
            ("name=0; verify=1", ServerDemands(checks_name=False)),
            (f"pin={PIN.upper()};roots={PIN}", ServerDemands(roots=PIN, pin=PIN)),
            ("min=1.3", ServerDemands(least="1.3")),
            (
                "max=1.2; ciphers=AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256; level=0",
                ServerDemands(
                    newest="1.2", ciphers="AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256", level="0"
                ),
            ),
        ):
            self.assertEqual(server_demands(head(b"Trafficmock-Trust: " + text.encode())), found)
        self.assertIsNone(server_demands(head()))

    def test_malformed(self) -> None:
        for text in (
            *(b"verify=2", b"pin=abc", b"roots=../x", b"other=1", b"", b"pin=" + b"a" * 65),
            *(b"min=2", b"max=1.4", b"level=6", b"ciphers=@STRENGTH", b"ciphers=a:", b"ciphers=!a"),
            b"ciphers=" + b":".join([b"a"] * 257),
        ):
            with self.assertRaises(BadMessageError):
                server_demands(head(b"Trafficmock-Trust: " + text))

    @given(st.text("verifynamopst=;01ab ", max_size=80))
    def test_any_text(self, text: str) -> None:
        """Any text is read, or refused."""
        try:
            found = server_demands(head(b"Trafficmock-Trust: " + text.encode()))
        except BadMessageError:
            return
        assert found is not None
        self.assertIn(len(found.pin), {0, 32, 40, 64})

    def test_reason(self) -> None:
        """A reason is one short printable line."""
        for value, found in ((b"why", "why"), (b"\xe9", ""), (b"a" * 81, "")):
            self.assertEqual(reason_to_leave_alone(head(b"Trafficmock-Alone: " + value)), found)
        self.assertEqual(reason_to_leave_alone(head()), "")
