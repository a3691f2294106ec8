"""Who clients say they are."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.downstream.proxy_credentials import UnknownClientError, client_id
from trafficmock.proxy.http1.heads import BadMessageError


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

    def test_unprintable(self) -> None:
        """A user name with control characters is refused, and the answer says why."""
        for user in ("a\nforged", "\x1b[31m", "\0", "\u2028"):
            error = self.assertRaises(BadMessageError, client_id, basic(f"{user}:x"), None)
            self.assertEqual((error.status, error.code), (400, "invalid_client_id"))
            self.assertIn("one line of printable text", error.text)
            self.assertTrue(error.text.isprintable())

    @given(st.one_of(st.text(max_size=20).map(basic), st.binary(max_size=40)))
    def test_any_input(self, sent: bytes) -> None:
        """No credentials make trouble, and whatever is accepted is one line."""
        try:
            found = client_id(sent, None)
        except BadMessageError as error:
            self.assertEqual(error.code, "invalid_client_id")
        else:
            self.assertEqual(found.splitlines(), [found])
        self.assertRaises(UnknownClientError, client_id, sent, "x" * 50)
