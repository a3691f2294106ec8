"""What frames of protocol 3 carry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.websocket.socket_messages import content, message_of
from trafficmock.wire.inbound import MessageFromPage, MessageFromServer


class MessageTests(SynchronousTestCase):
    """Both directions."""

    @given(st.text() | st.binary())
    def test_round(self, data: str | bytes) -> None:
        """Text and bytes come out as they went in."""
        for kind in (MessageFromPage, MessageFromServer):
            self.assertEqual(content(message_of(kind, "s", data)), data)

    @given(st.text())
    def test_no_base64(self, text: str) -> None:
        """What is no base64 is nothing, or less; it never raises."""
        self.assertIsInstance(content(MessageFromPage("s", text, is_base64=True)), bytes)
        self.assertEqual(content(MessageFromPage("s", "é", is_base64=True)), b"")
