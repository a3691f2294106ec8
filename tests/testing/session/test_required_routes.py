"""Routes that a request has to meet."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.fakes import SessionHarness, entry
from trafficmock.testing.errors import UnmetRouteError
from trafficmock.testing.session.arguments.url_matchers import make_matcher


class RequiredTests(SynchronousTestCase):
    """``required``."""

    def setUp(self) -> None:
        self.harness = SessionHarness()

    def mock(self, url: str, *, required: bool = True) -> None:
        self.harness.session.http.route(
            make_matcher(url),
            None,
            place="test_shop.py:12",
            options={"status": 201},
            required=required,
        )
        self.harness.acknowledge()

    def finish(self) -> list[BaseException]:
        promise = self.harness.session.finish()
        for _ in range(3):
            self.harness.acknowledge()
        return promise.value

    def test_unmet(self) -> None:
        """The error has the route, its file and line, and the nearest request."""
        self.mock("http://h.test/charges")
        self.mock("http://h.test/other", required=False)
        self.harness.entries = [entry(1, "charge", "passthrough")]
        (error,) = self.finish()
        self.assertIsInstance(error, UnmetRouteError)
        self.assertEqual(
            str(error),
            "no request met the route 'http://h.test/charges': "
            "handler of a mock with status 201 (test_shop.py:12)\n"
            "  GET http://h.test/charge (client shop): path differs ('/charge', not '/charges')",
        )

    def test_met(self) -> None:
        """A route that was met, was used up, was removed or is not required is no error."""
        self.mock("http://h.test/x", required=False)
        used: Any = self.harness.session.http.route(
            make_matcher("**/a"), lambda routed, _: routed.fulfill({}), 1, required=True
        )
        self.harness.acknowledge()
        self.assertTrue(used.done)
        self.harness.matched()
        self.mock("http://h.test/gone")
        self.harness.session.http.unroute(make_matcher("http://h.test/gone"), None)
        self.harness.acknowledge()
        self.assertEqual(self.finish(), [])

    def test_failed_before(self) -> None:
        """A test that failed anyway has no such error."""
        self.mock("http://h.test/charges")
        self.harness.session.judged = True
        self.assertEqual(self.finish(), [])
