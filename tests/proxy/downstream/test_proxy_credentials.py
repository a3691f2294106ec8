"""Who clients say they are."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.downstream.proxy_credentials import UnknownClientError, client_id


def basic(text: str) -> bytes:
    return b"Basic " + base64.b64encode(text.encode())


class IdentityTests(SynchronousTestCase):
    """Proxy credentials."""

    def test_open(self) -> None:
        """Without a token the user is the client id, and nothing else counts."""
        for sent, name in (
            (None, "proxy"),
            (basic("orders:"), "orders"),
            (basic("orders:any"), "orders"),
            (basic(":x"), "proxy"),
            (basic("bücher:x"), "bücher"),
            (b"Bearer x", "proxy"),
            (b"Basic %%%", "proxy"),
            (b"basic " + base64.b64encode(b"a:b"), "a"),
        ):
            self.assertEqual(client_id(sent, None), name, sent)

    def test_token(self) -> None:
        """With a token the password must be it; the answer says how to give it."""
        self.assertEqual(client_id(basic("orders:s3cret"), "s3cret"), "orders")
        self.assertEqual(client_id(basic(":s3cret"), "s3cret"), "proxy")
        for sent in (None, basic("orders:"), basic("orders:wrong"), basic("s3cret"), b"x"):
            error = self.assertRaises(UnknownClientError, client_id, sent, "s3cret")
            self.assertEqual(error.status, 407)
            self.assertEqual(error.headers[0][0], b"proxy-authenticate")

    @given(st.binary(max_size=40))
    def test_any_input(self, sent: bytes) -> None:
        """No credentials make trouble."""
        self.assertTrue(client_id(b"Basic " + sent, None))
        self.assertRaises(UnknownClientError, client_id, b"Basic " + sent, "x" * 50)
