"""Marks stand for secrets, and any value fits one."""

from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.samples import KEY
from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.marked_texts import fits

REDACTOR = Redactor(key=KEY)
M = "[redacted:12345678]"


class FitsTests(SynchronousTestCase):
    """A recorded text fits what came, where a mark stands for any value of its field."""

    def test_texts(self) -> None:
        """The rest has to be equal."""
        for recorded, actual, fit in (
            ("abc", "abc", True),
            ("abc", "abd", False),
            (f'{{"token": "{M}", "n": 1}}', '{"token": "x\\"y", "n": 1}', True),
            (f'{{"token": "{M}", "n": 1}}', '{"token": 123, "n": 1}', True),
            (f'{{"token": "{M}", "n": 1}}', '{"token": "x", "n": 2}', False),
            (f'{{"token": "{M}", "n": 1}}', '{"token": "x", "m": "y", "n": 1}', False),
            (f'{{"a": "{M}", "b": "{M}"}}', '{"a": "1", "b": "2"}', True),
            (f'{{"a": "Bearer {M}"}}', '{"a": "Bearer xyz"}', True),
            (f"user=a&password={M}&x=1", "user=a&password=b%20c&x=1", True),
            (f"user=a&password={M}&x=1", "user=a&password=b%20c&y=2&x=1", False),
            (f"password={M}", "password=", True),
            (f"password={M}", "passwort=a", False),
            (M, "anything", True),
        ):
            with self.subTest(recorded=recorded, actual=actual):
                self.assertEqual(fits(recorded, actual), fit)

    def test_urls(self) -> None:
        """A value of a URL ends with its parameter or segment."""
        for recorded, actual, fit in (
            (f"https://h/?a={M}&b=1", "https://h/?a=x%20y&b=1", True),
            (f"https://h/?a={M}&b=1", "https://h/?a=x&c=2&b=1", False),
            (f"https://h/?a={M}", "https://h/?a=%5Bredacted%3A12345678%5D", True),
            (f"https://h/{M}/x", "https://h/sk_live_1/x", True),
            (f"https://h/{M}/x", "https://h/a/b/x", False),
            ("https://redacted-12345678:redacted-12345678@h/", "https://u:p@h/", True),
            (f"https://h/?n=https%3A%2F%2Fa%2F%3Ft%3D{M}", "https://h/?n=https://a/?t=1", True),
        ):
            with self.subTest(recorded=recorded, actual=actual):
                self.assertEqual(fits(recorded, actual, is_url=True), fit)

    @given(st.text(min_size=1), st.text("abc&=/?#x ", max_size=9))
    def test_redacted(self, secret: str, other: str) -> None:
        """What was redacted fits what it was."""
        secret = secret.encode(errors="replace").decode()
        url = f"https://h.test/?{urlencode({'o': other, 'token': secret, 'z': '1'})}"
        self.assertTrue(fits(REDACTOR.url(url), url, is_url=True))
        form = urlencode({"o": other, "password": secret, "z": "1"})
        kind = "application/x-www-form-urlencoded"
        recorded = REDACTOR.body(form.encode(), kind).decode()
        self.assertTrue(fits(recorded, form), recorded)
