"""Waiting for a request: in parallel tests, that of the own test only."""

import threading
from concurrent.futures import ThreadPoolExecutor

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.testing.row_context import ask_through
from tests.testing.shared_app import shared_app
from trafficmock.testing import sync
from trafficmock.testing.session.traffic_context import Isolation

ROUNDS = 1000 if DEEP else 30
SECONDS = 60.0


def foreign_requests(isolation: Isolation) -> int:
    """Wait in two tests at once, while both ask; count what was not the own request."""
    node_app = shared_app()
    rounds = threading.Barrier(2, timeout=SECONDS)

    def wait_often(name: str) -> int:
        foreign = 0
        with sync.mocks(node_app.proxy.url, title=name, isolation=isolation) as mocks:
            for number in range(ROUNDS):
                url = f"{node_app.upstream_url}/echo/{name}-{number}"
                rounds.wait()
                with mocks.expect_request("**/echo/*") as asked:
                    rounds.wait()
                    ask_through(node_app.proxy.url, url, mocks.headers)
                foreign += asked.value.url != url
        return foreign

    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(wait_often, ("one", "other")))


class WaitingTests(SynchronousTestCase):
    """Two tests whose requests have URLs that both wait for."""

    def test_own(self) -> None:
        """A test never gets the other one's request."""
        self.assertEqual(foreign_requests("required"), 0)

    def test_off(self) -> None:
        """Without contexts it does, so this can fail."""
        self.assertGreater(foreign_requests("off"), 0)
