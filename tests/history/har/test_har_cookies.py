"""Cookies for HAR."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.history.har.har_cookies import sent_cookies, set_cookie, split_set_cookie

EXPIRING = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/"


class CookieTests(SynchronousTestCase):
    """What is read from the headers."""

    def test_sent(self) -> None:
        """A ``cookie`` header lists names and values; only the first ``=`` divides."""
        self.assertEqual(
            sent_cookies("a=1; b=x=y;; c"),
            [
                {"name": "a", "value": "1"},
                {"name": "b", "value": "x=y"},
                {"name": "", "value": "c"},
            ],
        )

    def test_set(self) -> None:
        """A ``set-cookie`` line gives the attributes that HAR knows."""
        line = EXPIRING + "; Domain=x.test; HttpOnly; SECURE; SameSite=Lax; Max-Age=1; Odd"
        self.assertEqual(
            set_cookie(line),
            {
                "name": "a",
                "value": "1",
                "expires": "2026-10-21T07:28:00+00:00",
                "path": "/",
                "domain": "x.test",
                "httpOnly": True,
                "secure": True,
                "sameSite": "Lax",
            },
        )

    def test_unreadable_date(self) -> None:
        """A date that cannot be read is left out."""
        self.assertEqual(set_cookie("a=1; Expires=soon"), {"name": "a", "value": "1"})

    def test_joined(self) -> None:
        """Joined lines are taken apart, but not at the comma of a date."""
        second = "b=2; HttpOnly"
        for glue in (", ", ",", "\n"):
            with self.subTest(repr(glue)):
                joined = glue.join([EXPIRING, second, EXPIRING])
                self.assertEqual(split_set_cookie(joined), [EXPIRING, second, EXPIRING])

    @given(st.text(st.characters()))
    def test_anything(self, text: str) -> None:
        """No header makes it fail."""
        for line in split_set_cookie(text):
            set_cookie(line)
        set_cookie("a=1; expires=" + text)
        sent_cookies(text)
