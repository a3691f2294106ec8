"""Errors that a client's retries repeat, and the line that sums a test's errors up."""

import os
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import SessionHarness
from trafficmock.testing.adapters.proxy_address import unreachable
from trafficmock.testing.adapters.teardown import raise_errors
from trafficmock.testing.errors import UsageError
from trafficmock.testing.objects.sent_options import sent_arguments


def raises(routed: Any, done: Any) -> None:
    done(None, ValueError(f"no price\nfor {routed.request.url}"))


class RepeatTests(SynchronousTestCase):
    """The same error of the same handler stands once."""

    def finish(self, *urls: str) -> list[BaseException]:
        harness = SessionHarness()
        harness.route(raises)
        for number, url in enumerate(urls):
            harness.matched(f"r{number}", url)
        promise = harness.session.finish()
        harness.acknowledge()
        return promise.value

    def test_retries(self) -> None:
        """Two retries are a note, with their number."""
        (error,) = self.finish(*["http://h.test/a"] * 3)
        self.assertEqual(error.__notes__[-1], "2 more requests met the same.")

    def test_others(self) -> None:
        """Errors about other requests stay, without such a note."""
        errors = self.finish("http://h.test/a", "http://h.test/b", "http://h.test/b")
        self.assertEqual(len(errors), 2)
        self.assertNotIn("met the same", str(errors[0].__notes__))
        self.assertEqual(errors[1].__notes__[-1], "1 more request met the same.")


class SummaryTests(SynchronousTestCase):
    """Short texts that say what is wrong."""

    def test_group(self) -> None:
        """The text of the group has the first line of its first error."""
        errors = [ValueError("no price\nin the list"), KeyError("x")]
        with self.assertRaises(ExceptionGroup) as caught:
            raise_errors("test_buys", errors)
        said = "errors in the mocks of test_buys: ValueError: no price (and 1 more)"
        self.assertEqual(caught.exception.message, said)
        with self.assertRaises(ExceptionGroup) as caught:
            raise_errors("test_buys", [ValueError("x" * 5000)])
        self.assertLess(len(caught.exception.message), 300)

    def test_iterator(self) -> None:
        """A body in parts is told to be joined."""
        body: Any = (part for part in (b"a", b"b"))
        with self.assertRaisesRegex(UsageError, r"not generator.*b\"\"\.join\(parts\)"):
            sent_arguments("mock", {"body": body})

    def test_unreachable(self) -> None:
        """A proxy that cannot be reached: the text says where its URL came from."""
        url = "http://127.0.0.1:4310"
        for environment, said in (
            ({"TRAFFICMOCK_PROXY_URL": url}, f"{url} (the URL in TRAFFICMOCK_PROXY_URL): gone"),
            ({}, f"{url} (the default URL): gone"),
        ):
            self.patch(os, "environ", environment)
            self.assertIn(said, str(unreachable(url, OSError("gone"))))
        error = str(unreachable("http://h:1", OSError("gone")))
        self.assertIn("http://h:1: gone", error)
        for way in ("--trafficmock-proxy-url URL in pytest", "TRAFFICMOCK_PROXY_URL"):
            self.assertIn(way, error)
