"""What people read who make a mistake: as pytest prints it."""

import functools
import re

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.trial_workers import made_once
from tests.testing import runs
from tests.testing.shared_app import shared_app

SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_mistakes.py")


@functools.cache
def output() -> str:
    return made_once(__name__, _output)


def _output() -> str:
    node_app = shared_app()
    environment = {
        **runs.LEAN,
        "SAMPLE_APP": node_app.app_url,
        "SAMPLE_UPSTREAM": node_app.upstream_url,
        "TRAFFICMOCK_PROXY_URL": node_app.proxy.url,
    }
    return runs.run(*runs.lean_pytest(), SAMPLE, environment=environment)


def printed_by(test: str) -> str:
    """Give what is printed about a test, one failure or error after the other."""
    parts = re.split(r"^_{3,} (?:ERROR at \w+ of )?(\w+) _{3,}$", output(), flags=re.MULTILINE)
    return "\n".join(
        text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name == test
    )


class MistakeTests(SynchronousTestCase):
    """Each says what was seen, where, and what to do; none shows our own code."""

    def test_late_waiter(self) -> None:
        """What came is listed, nearest first, with what differed."""
        text = printed_by("test_too_late")
        self.assertIn("Timeout 100ms exceeded while waiting for request '**/json/late'", text)
        late = text.index("/json/late (client app): came before the wait began: begin it before")
        page = text.index("/json/late?page=2 (client app): query differs ('?page=2': a glob is for")
        other = text.index("/json/other (client app): path differs")
        self.assertTrue(late < page < other, text)

    def test_parts(self) -> None:
        """Each part of a URL that differs is named, with both values."""
        text = printed_by("test_parts")
        self.assertRegex(text, r"host differs \('127\S+', not 'payments.test'\)")
        self.assertIn("query differs ('', not '?page=2')", text)

    def test_own_lines(self) -> None:
        """The line shown is the test's, not one of ours."""
        for test in ("too_late", "parts", "no_handler", "braces", "status"):
            printed = printed_by(f"test_{test}")
            self.assertNotIn("trafficmock/testing/", printed)
            self.assertRegex(printed, r"with_mistakes.py:\d+: \w+Error")
        self.assertIn(
            "a handler is a function of (route, request), not {'json'",
            printed_by("test_no_handler"),
        )
        self.assertIn("no '}' for the '{' at character 4", printed_by("test_braces"))

    def test_handler(self) -> None:
        """What a handler did is shown by its own lines, with its name and the request."""
        text = printed_by("test_two_decisions")
        self.assertIn("AlreadyHandledError: GET http", text)
        self.assertIn('route.fulfill(body="two")', text)
        self.assertNotIn("trafficmock/testing/objects/", text)
        self.assertRegex(
            text, r"in handler test_two_decisions.<locals>.twice \(with_mistakes.py:\d+\)"
        )

    def test_traffic_at_either_end(self) -> None:
        """The traffic is shown too where only a handler failed, or a fixture."""
        text = printed_by("test_handler_only")
        self.assertRegex(
            text,
            r"decided by this test: 1\n  GET \S+/json/broken, no response, client "
            r"app, abort because of an error\n",
        )
        (_, *errors) = text.split("| TypeError: 'NoneType' object is not subscriptable")
        self.assertEqual(len(errors), 1, text)
        self.assertIn("/json/in-the-fixture, 200", printed_by("test_fixture"))

    def test_ambiguous(self) -> None:
        """Two tests that want one request are named with their files, and how to scope them."""
        text = printed_by("test_two_tests")
        self.assertIn("\"test_other\" (tests/other.py, worker 0) by route '**/json/*'", text)
        error, _, report = text.partition("traffic of this test")
        self.assertEqual(error.count("tests/other.py"), 1)
        self.assertRegex(
            report, r"a route for it: 1\n  GET \S+, client app, with 'test_other' in te"
        )
        self.assertNotIn("no request met", report)
        self.assertRegex(text, "(?s)passes on no contexts; use trafficmock's.* its own client id")
        self.assertEqual(text.count("client id"), 1, text)
