"""What commands share: arguments and exit statuses."""

import argparse
import os
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command import exit_status, history
from trafficmock.command.arguments import count, filters, moment, proxy
from trafficmock.command.exit_status import CommandError
from trafficmock.errors import LocalError

NOW = 1_700_000_000_000


class MomentTests(SynchronousTestCase):
    """``--from`` and ``--to``."""

    def test_forms(self) -> None:
        """Epoch milliseconds, ISO 8601 and so long ago are understood."""
        for text, expected in (
            ("1700000000001", NOW + 1),
            ("10m", NOW - 600_000),
            ("1.5 h", NOW - 5_400_000),
            ("2023-11-14T22:13:20Z", NOW),
            ("90000d", 0),
        ):
            self.assertEqual(moment(text, NOW), expected)

    def test_local(self) -> None:
        """A time without a zone is local."""
        local = datetime(2023, 11, 14, 22, 13).astimezone()
        self.assertEqual(moment("2023-11-14T22:13"), round(local.timestamp() * 1000))

    @given(st.text(max_size=20))
    def test_anything(self, text: str) -> None:
        """Any text is a moment or an error that says what is allowed."""
        try:
            self.assertIsInstance(moment(text, NOW), int)
        except argparse.ArgumentTypeError as error:
            self.assertIn("10m", str(error))

    def test_count(self) -> None:
        """A number is whole and not negative."""
        self.assertEqual(count("12"), 12)
        for text in ("-1", "1.5", "", "x", "٣"):
            self.assertRaises(argparse.ArgumentTypeError, count, text)


class ProxyTests(SynchronousTestCase):
    """Which proxy is asked."""

    def setUp(self) -> None:
        self.environment: dict[str, str] = {}
        self.patch(os, "environ", self.environment)

    def url(self, *words: str) -> str:
        return proxy(history.parser().parse_args(words)).url

    def test_order(self) -> None:
        """The option wins over our variable, that over the npm packages', that over the default."""
        self.assertEqual(self.url(), "http://127.0.0.1:4310")
        self.environment["PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL"] = "http://npm:1"
        self.assertEqual(self.url(), "http://npm:1")
        self.environment["TRAFFICMOCK_PROXY_URL"] = "http://ours:1/"
        self.assertEqual(self.url(), "http://ours:1")
        self.assertEqual(self.url("--proxy-url", "https://given"), "https://given")

    def test_wrong(self) -> None:
        """What is no address ends with status 2."""
        for url in (
            "ftp://x",
            "localhost:4310",
            "http://",
            "http://x:port",
            "http://[",
            "http://a b",
        ):
            error = self.assertRaises(CommandError, self.url, "--proxy-url", url)
            self.assertEqual(error.status, 2, url)

    def test_filters(self) -> None:
        """Filters have the names of the REST API."""
        words = ["-q", "x", "--action", "abort", "--client-id", "c", "--test-id", "t"]
        words += ["--from", "1", "--to", "2", "--method", "post", "--status", "4xx"]
        words += ["--unowned", "--late"]
        given = filters(history.parser().parse_args(words))
        expected = {"q": "x", "action": "abort", "clientId": "c", "testId": "t", "from": 1, "to": 2}
        expected |= {"method": "POST", "status": "4xx", "unowned": "true", "late": "true"}
        self.assertEqual(given, expected)


class EndTests(SynchronousTestCase):
    """How commands end."""

    def test_all_have_a_meaning(self) -> None:
        """Each status is another number, with its meaning."""
        statuses = [
            value
            for name, value in vars(exit_status).items()
            if name.isupper() and name != "MEANINGS"
        ]
        self.assertEqual(sorted(statuses), sorted(exit_status.MEANINGS))
        self.assertEqual(len(set(exit_status.MEANINGS.values())), len(statuses))

    def test_error(self) -> None:
        """Each error of a command carries the status."""
        error = exit_status.CommandError("no", status=exit_status.NOTHING)
        self.assertIsInstance(error, LocalError)
        self.assertEqual((str(error), error.status), ("no", 1))
