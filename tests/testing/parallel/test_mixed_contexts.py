"""A request with the context of a test that does not mock it, while another test does."""

import warnings
from contextlib import ExitStack
from typing import Any

import requests
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.tested_proxy import start_proxy
from tests.testing.row_context import ask
from trafficmock.testing import sync
from trafficmock.testing.errors import MixedContextError, MixedContextWarning

URL = "http://mail.test/1"


class MixedContextTests(SynchronousTestCase):
    """A client of the forward proxy, which copies the header of the wrong request."""

    def setUp(self) -> None:
        self.stack = ExitStack()
        self.addCleanup(self.stack.close)
        self.proxy = start_proxy([])
        self.stack.callback(self.proxy.stop)

    def mocks(self, title: str, **options: Any) -> sync.TrafficMock:
        return self.stack.enter_context(sync.mocks(self.proxy.url, title=title, **options))

    def send(self, context: sync.TrafficMock, status: int = 403) -> None:
        """Send a request by the forward proxy, in a context; its host has no address."""
        proxies = {"http": self.proxy.url}
        answer = requests.get(URL, headers=context.headers, proxies=proxies, timeout=10)
        self.assertEqual(answer.status_code, status)

    def test_required(self) -> None:
        """A test that requires its context fails, and its report names both tests."""
        first = self.mocks("first")
        second = self.mocks("second", isolation="required")
        second.mock("http://mail.test/*", body="second")
        self.send(first, status=502)
        (error,) = second.take_errors()
        self.assertIsInstance(error, MixedContextError)
        self.assertRegex(
            str(error),
            'context of the test "first" .*, which has no route for it; only the test "second" ',
        )
        (entry,) = ask(f"{self.proxy.url}/api/history")["entries"]
        self.assertIn(entry["mixed"]["how"], str(error))

    def test_refused(self) -> None:
        """It is only warned where strict mode refuses the request, which is an error already."""
        first = self.mocks("first", strict=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with sync.mocks(self.proxy.url, title="second", isolation="required") as second:
                second.mock("http://mail.test/*", body="second")
                self.send(first)
        self.assertIn(MixedContextWarning, [each.category for each in caught])
        first.take_errors()

    def test_warning(self) -> None:
        """Other tests are warned, at their ends."""
        first = self.mocks("first", strict=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with sync.mocks(self.proxy.url, title="second") as second:
                second.mock("http://mail.test/*", body="second")
                self.send(first)
        (warning,) = (each for each in caught if each.category is MixedContextWarning)
        self.assertIn("GET http://mail.test/1 of the application", str(warning.message))
        first.take_errors()
